// The cells of `redis-sentinel` (5.2 of the design). Sentinel makes the group available again; it does not make
// replication synchronous, and it does not stop clients that still reach the old primary.

import type { PlanInput } from '../plan.ts';
import { givenTwice, givenTwiceWithOldTokens, type CellOfBackend } from './cell.ts';
import { healthyGroupCells } from './redis-replicated.ts';

/** Work that outlasts a failover, also on a busy machine, with leases that outlast the work; somebody waits for each lock. */
const SLOW_WORK: PlanInput = {
  ttlMillis: '8s',
  thinkMillis: '4s..6500ms',
  pollMillis: '20ms..40ms',
  clients: 10,
  locks: 6,
  minContendedHandoffs: 2,
};

export const redisSentinelCells: readonly CellOfBackend[] = [
  ...healthyGroupCells,
  {
    recipe: 'set-nx-px',
    fault: 'kill-isolated-primary',
    workload: 'counter',
    settings: { ...SLOW_WORK, timeLimitMillis: '14s' },
    expected: givenTwice,
    because:
      'the old primary goes on granting to those that still reach it, and the promoted replica has never heard of that',
  },
  {
    recipe: 'fenced-incr',
    fault: 'kill-isolated-primary',
    workload: 'counter',
    settings: { ...SLOW_WORK, timeLimitMillis: '14s' },
    expected: givenTwiceWithOldTokens,
    because: 'the promoted replica has never heard of the locks that are held, nor of the tokens handed out',
  },
  {
    recipe: 'set-nx-px',
    fault: 'order-failover',
    workload: 'counter',
    settings: { ...SLOW_WORK, timeLimitMillis: '18s' },
    expected: givenTwice,
    because:
      'clients stay with the old primary, which takes writes for some ten seconds more; what it granted is then lost',
  },
];
