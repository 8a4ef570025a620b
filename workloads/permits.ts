// Take one of a semaphore's permits, hold it, give it back. Several hold the lock at once and rightly so; that they are
// never one too many is what `mutual-exclusion.ts` of the checkers looks at.

import type { Workload } from '../harness/contract/workload.ts';
import { mutex } from './mutex.ts';

export const permits: Workload = {
  name: 'permits',
  summary: 'take one permit of a semaphore, hold it for the think time, give it back; the store is not used',
  kind: 'semaphore',
  defaults: { locks: '1' },
  defences: [],
  run: (session) => mutex.run(session),
};
