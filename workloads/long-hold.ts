// The counter, with work that takes longer than the lease: what a lock without renewal promises nobody, and what a
// healthy watchdog must keep.

import type { Workload } from '../harness/contract/workload.ts';
import { counter } from './counter.ts';

export const longHold: Workload = {
  name: 'long-hold',
  summary: 'as counter, but the work takes longer than the TTL',
  // Long enough past the lease that others are granted the lock meanwhile.
  defaults: { ttlMillis: '500ms', thinkMillis: '700ms..900ms' },
  run: (session) => counter.run(session),
};
