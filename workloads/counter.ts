// Read, think, add one, write back: the smallest critical section that loses an update when the lock does not protect
// it. The same section runs against every defence side by side, so one run grades them all.

import type { Workload } from '../harness/contract/workload.ts';

export const counter: Workload = {
  name: 'counter',
  summary: 'read, think, add one, write back; all defences side by side in the same critical section',
  async run(session) {
    const lock = session.random.pick(session.locks);
    const held = await session.acquire(lock);
    if (held === undefined) return;
    const reads = await Promise.all(
      session.defences.map(async (defence) => ({ defence, found: await session.read(defence, lock, held) })),
    );
    await session.think();
    // It has been told; a client that has not been told writes, and that is the case the run is about.
    if (!held.lost)
      await Promise.all(
        reads.map(async ({ defence, found }) => {
          if (found === undefined) return;
          const value = (BigInt(found.value) + 1n).toString();
          await session.write(defence, lock, held, { value, base: found.version });
        }),
      );
    await session.release(held);
  },
};
