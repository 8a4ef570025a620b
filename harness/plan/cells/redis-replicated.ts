// The cells of `redis-replicated` (5.2 of the design). Replication is asynchronous: what a primary granted may be
// unknown to the replica that is promoted.

import type { PlanInput } from '../plan.ts';
import { givenTwice, givenTwiceWithOldTokens, safe, type CellOfBackend } from './cell.ts';

/** Work that outlasts a promotion, with a lease that outlasts the work. */
const SLOW_WORK: PlanInput = {
  ttlMillis: '8s',
  thinkMillis: '4s..6500ms',
  pollMillis: '20ms..40ms',
  clients: 10,
  locks: 6,
  timeLimitMillis: '14s',
  minContendedHandoffs: 2,
};

/** Whoever would promote a replica has no reason to. */
export const healthyGroupCells = ['set-nx-px', 'watchdog', 'fenced-incr', 'wait-1', 'wait-all'].map(
  (recipe): CellOfBackend => ({
    recipe,
    fault: 'none',
    workload: 'counter',
    settings: {},
    expected: safe,
    because: 'while nobody is promoted, one server grants, and replicas only copy',
  }),
);

export const redisReplicatedCells: readonly CellOfBackend[] = [
  ...healthyGroupCells,
  ...['set-nx-px', 'watchdog'].map((recipe): CellOfBackend => ({
    recipe,
    fault: 'lose-primary',
    workload: 'counter',
    settings: SLOW_WORK,
    expected: givenTwice,
    because: 'the promoted replica has never heard of the locks that are held',
  })),
  {
    recipe: 'fenced-incr',
    fault: 'lose-primary',
    workload: 'counter',
    settings: SLOW_WORK,
    expected: givenTwiceWithOldTokens,
    because: 'the promoted replica has never heard of the locks that are held, nor of the tokens handed out',
  },
  {
    recipe: 'wait-1',
    fault: 'lose-primary',
    workload: 'counter',
    settings: SLOW_WORK,
    expected: safe,
    because: 'a primary that no replica hears grants nothing that is confirmed',
  },
  {
    recipe: 'wait-1',
    fault: 'lose-acknowledged',
    workload: 'counter',
    settings: SLOW_WORK,
    expected: givenTwice,
    because: 'the replica that confirmed is not the one that is promoted',
  },
  {
    recipe: 'wait-all',
    fault: 'lose-acknowledged',
    workload: 'counter',
    settings: SLOW_WORK,
    expected: safe,
    because: 'while one replica is cut off nothing is confirmed, so nothing is held that it does not know',
  },
  {
    variant: 'min-replicas',
    recipe: 'set-nx-px',
    fault: 'lose-primary',
    workload: 'counter',
    settings: { ...SLOW_WORK, thinkMillis: '2500ms..3900ms', locks: 4 },
    expected: safe,
    because:
      'a primary that hears of no replica for two seconds refuses writes, and what it granted before has run out',
  },
];
