// A folder in memory, of limited size, that several containers share: a volume of the engine's own driver.

/**
 * As `Mounts` takes it. Without a name, so that it goes with the containers that have it. Everybody may write, whatever
 * user a server runs as.
 */
export function memoryVolume({ path, bytes }: { readonly path: string; readonly bytes: number }) {
  const options = { type: 'tmpfs', device: 'tmpfs', o: `size=${bytes},mode=0777` };
  return {
    Type: 'volume' as const,
    Source: '',
    Target: path,
    VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: { Name: 'local', Options: options } },
  };
}
