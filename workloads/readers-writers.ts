// A read-write lock at work: most turns read the registers together with other readers, the others have the lock alone
// and count up. A reader who was let in beside a writer shows in the grants; a writer beside a writer in the counts.

import type { Workload } from '../harness/contract/workload.ts';
import { counter } from './counter.ts';

/** One turn in so many writes. */
const WRITES_ONE_IN = 4;

export const readersWriters: Workload = {
  name: 'readers-writers',
  summary: 'three turns in four share the lock and read, the others have it alone and do what counter does',
  kind: 'read-write',
  defaults: { locks: '1' },
  async run(session) {
    if (session.random.integer(1, WRITES_ONE_IN) === 1) return counter.run(session);
    const held = await session.acquireShared(session.random.pick(session.locks));
    if (held === undefined) return;
    await Promise.all(session.defences.map((defence) => session.read(defence, held.lock, held)));
    await session.think();
    await session.release(held);
  },
};
