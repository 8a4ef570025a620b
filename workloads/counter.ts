// Read, think, add one, write back: the smallest critical section that loses an update when the lock does not protect
// it.

import type { HeldLock, Session, Workload } from '../harness/contract/workload.ts';
import { readThinkWrite } from './read-think-write.ts';

export const counter: Workload = {
  name: 'counter',
  summary: 'read, think, add one, write back; all defences side by side in the same critical section',
  run: (session) => addOne(session, session.random.pick(session.locks)),
};

/** One turn on `lock`, if it can be had. */
export async function addOne(session: Session, lock: string): Promise<void> {
  const held = await session.acquire(lock);
  if (held === undefined) return;
  await countUp(session, held);
  await session.release(held);
}

/** The section alone, under a lock that is held. */
export async function countUp(session: Session, held: HeldLock): Promise<void> {
  await readThinkWrite(session, {
    held,
    defences: session.defences,
    change: ({ value, version }) => ({ value: (BigInt(value) + 1n).toString(), base: version, add: '1' }),
  });
}
