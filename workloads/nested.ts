// A section that calls another one under the same lock, as code does whose parts each lock what they need. What comes
// after the inner release is still under the lock, and that is where a lock that counts wrongly lets others in.

import type { Workload } from '../harness/contract/workload.ts';
import { countUp } from './counter.ts';

export const nested: Workload = {
  name: 'nested',
  summary: 'acquire, acquire again, release once, then what counter does, then release for good',
  kind: 'reentrant',
  async run(session) {
    const held = await session.acquire(session.random.pick(session.locks));
    if (held === undefined) return;
    const inner = await session.reenter(held);
    if (inner !== undefined) {
      await session.think();
      await session.release(inner);
      await countUp(session, held);
    }
    await session.release(held);
  },
};
