// Acquire, hold, release: nothing is protected, so it tells about the lock alone and puts all load on it.

import type { Workload } from '../harness/contract/workload.ts';

export const mutex: Workload = {
  name: 'mutex',
  summary: 'acquire, hold for the think time, release; the store is not used',
  defences: [],
  async run(session) {
    const held = await session.acquire(session.random.pick(session.locks));
    if (held === undefined) return;
    await session.think();
    await session.release(held);
  },
};
