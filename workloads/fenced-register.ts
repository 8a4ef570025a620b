// A register that is read and then overwritten with a value that no one else writes, by work that takes most of the
// lease. A holder that stands still after its read wakes up while the next one is between its own read and its first
// write: that is where a store that checks tokens on writes alone still loses an update (2.6 of the design).

import type { Workload } from '../harness/contract/workload.ts';
import { readThinkWrite } from './read-think-write.ts';

export const fencedRegister: Workload = {
  name: 'fenced-register',
  summary: 'read, work for most of the lease, overwrite with a value of its own',
  // A holder is paused for 1.5 × TTL soon after its grant; the next one works from 1 × to at least 1.6 × TTL. What is left
  // of the lease is for a busy machine.
  defaults: { ttlMillis: '2500ms', thinkMillis: '1500ms..1600ms' },
  // A value of one's own cannot be put as something to add.
  defences: [
    'none',
    'fence-on-write',
    'fence-on-read-and-write',
    'version-cas',
    'row-lock',
    'unique-constraint',
  ],
  async run(session) {
    const held = await session.acquire(session.random.pick(session.locks));
    if (held === undefined) return;
    await readThinkWrite(session, {
      held,
      defences: session.defences,
      change: ({ version }) => ({ value: session.fresh(), base: version }),
    });
    await session.release(held);
  },
};
