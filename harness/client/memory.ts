// Gives back what loading the drivers left behind: some 12 of 26 MB of a fresh client are garbage that a collector
// under no pressure keeps, and a run may have many clients. Called once, before the load starts.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** One full collection; takes some 20 ms. */
export function releaseGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
