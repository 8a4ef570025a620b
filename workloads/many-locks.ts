// The counter under hundreds of locks, of which a few are wanted by everybody: what a service and a client library do
// with many names, sessions and keys at once. Without the hot ones hardly any lock would ever be contended.

import type { Workload } from '../harness/contract/workload.ts';
import { addOne } from './counter.ts';

const HOT_LOCKS = 3;

export const manyLocks: Workload = {
  name: 'many-locks',
  summary: 'as counter, under 300 locks; every other turn takes one of the same three',
  defaults: { locks: '300', thinkMillis: '5ms..20ms' },
  defences: ['none', 'fence-on-read-and-write', 'version-cas'],
  async run(session) {
    const hot = session.random.integer(0, 1) === 0;
    await addOne(session, session.random.pick(hot ? session.locks.slice(0, HOT_LOCKS) : session.locks));
  },
};
