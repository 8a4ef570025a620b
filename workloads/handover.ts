// Many clients, one lock, hardly any work: all that is left is the hand-over from one to the next. `handover.ts` of the
// checkers measures how long it takes, who waits longest, and what the crowd costs.

import type { Workload } from '../harness/contract/workload.ts';
import { mutex } from './mutex.ts';

export const handover: Workload = {
  name: 'handover',
  summary: 'all clients want the same lock all the time and hold it for a moment',
  defaults: { locks: '1', thinkMillis: '5ms..10ms', idleMillis: '0' },
  defences: [],
  run: (session) => mutex.run(session),
};
