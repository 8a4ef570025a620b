// The library of ours that a server's or client's container gets where a run needs it (`docker/shim`): copied out of its
// image, put into the container beside what is there, and loaded before everything else. So it works with official
// images too, and a run that needs no such fault has nothing of it.

import type { NodeSpec } from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import { CONTROLS_FOLDER } from '../../contract/shim.ts';
import { ask, type Engine } from './engine.ts';
import type { Image } from './images.ts';
import { newSessionName, removeSessionNamed, sessionLabels } from './session.ts';

/** The name of the image. */
export const SHIM_IMAGE = 'shim';
/** In the image, and in the containers that get it. */
export const SHIM_LIBRARY = '/lockpick-shim.so';
const CONTROLS_BYTES = 1 << 20;
/** Of the archive that the engine gives files in (`archive.ts`): where a file's size stands, and where it begins. */
const SIZE_FIELD = { from: 124, to: 135 };
const HEADER_BYTES = 512;

/** Reads the library out of its image; takes some 0.1 s. Throws HarnessError. */
export async function readShim(engine: Engine, { reference }: Image): Promise<Uint8Array> {
  const session = newSessionName();
  try {
    const container = await ask(
      'create a container of the shim',
      engine.docker.createContainer({ Image: reference, Labels: sessionLabels(session) }),
    );
    const stream = await ask('copy the shim', container.getArchive({ path: SHIM_LIBRARY }));
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream) if (chunk instanceof Uint8Array) chunks.push(chunk);
    const archive = Buffer.concat(chunks);
    const size = Number.parseInt(archive.toString('latin1', SIZE_FIELD.from, SIZE_FIELD.to), 8);
    if (!(size > 0 && archive.length >= HEADER_BYTES + size))
      throw new HarnessError('internal', `image ${reference} holds no ${SHIM_LIBRARY}`);
    return archive.subarray(HEADER_BYTES, HEADER_BYTES + size);
  } finally {
    await removeSessionNamed(engine, session);
  }
}

/** The node, with the library loaded into its process. */
export function preloaded(spec: NodeSpec, library: Uint8Array): NodeSpec {
  return {
    ...spec,
    files: [...(spec.files ?? []), { path: SHIM_LIBRARY, content: library }],
    environment: { ...spec.environment, LD_PRELOAD: SHIM_LIBRARY },
    sharedFolders: [
      ...(spec.sharedFolders ?? []),
      { path: CONTROLS_FOLDER, bytes: CONTROLS_BYTES, holds: 'controls' },
    ],
  };
}
