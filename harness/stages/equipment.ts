// What nodes get besides their own image so that the faults of a plan can be done to them: the shim, a disk of limited
// size. Only where a plan has such a fault: other runs are as they would be without.

import type { Engine } from '../cluster/docker/engine.ts';
import type { Images } from '../cluster/docker/images.ts';
import { preloaded, readShim, SHIM_IMAGE } from '../cluster/docker/shim.ts';
import type { NodeSpec } from '../contract/cluster.ts';
import { HarnessError } from '../contract/errors.ts';

const NEED_SHIM: ReadonlySet<string> = new Set(['clock-jump', 'clock-drift', 'clock-strobe', 'slow-fsync']);
const NEED_SMALL_DISK = 'disk-full';
/** Room for what a run of some minutes writes. */
const SMALL_DISK_BYTES = 64 << 20;

/** The images that must be there, besides those of the nodes. */
export function equipmentImages(faults: readonly string[]): readonly string[] {
  return faults.some((fault) => NEED_SHIM.has(fault)) ? [SHIM_IMAGE] : [];
}

/** Equips a node; `images` has those of `equipmentImages`. Throws HarnessError. */
export async function equipmentFor(
  faults: readonly string[],
  { engine, images }: { readonly engine: Engine; readonly images: Images },
): Promise<(spec: NodeSpec) => NodeSpec> {
  const shim = equipmentImages(faults).includes(SHIM_IMAGE) ? await shimOf(engine, images) : undefined;
  return (spec) => {
    const equipped = shim === undefined || spec.role === 'store' ? spec : preloaded(spec, shim);
    const { dataFolder } = spec;
    if (!faults.includes(NEED_SMALL_DISK) || dataFolder === undefined) return equipped;
    const disk = { path: dataFolder, bytes: SMALL_DISK_BYTES, holds: 'disk' as const };
    return { ...equipped, sharedFolders: [...(equipped.sharedFolders ?? []), disk] };
  };
}

async function shimOf(engine: Engine, images: Images): Promise<Uint8Array> {
  const image = images[SHIM_IMAGE];
  if (image === undefined) throw new HarnessError('internal', 'the image of the shim was not made sure of');
  return readShim(engine, image);
}
