// Files for a container as a tar archive, the only form in which the engine takes them. Pure.
// Format: POSIX.1-1988 ustar, the fields that matter: plain files, owner root, readable by all.

const BLOCK_BYTES = 512;
const NAME_BYTES_MAX = 100;

export interface ArchivedFile {
  /** Absolute, at most 100 bytes; its folder exists in the image. */
  readonly path: string;
  readonly content: string | Uint8Array;
  /** By all; else by the owner alone. */
  readonly writable?: boolean;
}

/** Throws RangeError if a path is too long. */
export function tarArchive(files: readonly ArchivedFile[]): Buffer {
  const blocks = files.flatMap(({ path, content, writable = false }) => {
    const bytes = Buffer.from(content);
    const mode = writable ? '0000666' : '0000644';
    return [header(path.replace(/^\/+/, ''), mode, bytes.length), bytes, padding(bytes.length)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]);
}

function padding(size: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);
}

function header(name: string, mode: string, size: number): Buffer {
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) throw new RangeError(`path too long for an archive: ${name}`);
  const block = Buffer.alloc(BLOCK_BYTES);
  block.write(name, 0);
  block.write(`${mode}\0`, 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  block.write('00000000000\0', 136);
  // The checksum counts its own field as spaces.
  block.write('        ', 148);
  block.write('0', 156);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}
