// The cells that show what a lock is for, and what protects the data when it fails: the workloads beside `counter`
// (5.3 of the design), on the backends where they say most. Of each workload the most telling cell comes first.

import type { Expectation } from '../../../checkers/verdict.ts';
import type { PlanInput } from '../plan.ts';
import { outlived, outlivedButFenced, safe, type Cell } from './cell.ts';

type CellOfWorkload = Omit<Cell, 'variant'>;

/** Sales in the store that checks nothing, by two who both believe that they alone sell. */
const sold = (expectation: Expectation): Expectation => ({
  ...expectation,
  findings: ['belief-overlap', 'oversold'],
  oneOf: [],
  allowed: [...expectation.allowed, 'duplicate-effect'],
  stores: { none: ['oversold'] },
});

/** The store that checks tokens on writes alone loses an update as well; the one that checks them on reads does not. */
const fencedTooLate: Expectation = {
  ...outlivedButFenced,
  findings: ['belief-overlap', 'lost-update'],
  oneOf: [],
  allowed: ['stale-write-landed'],
  stores: { none: ['lost-update'], 'fence-on-write': ['lost-update'] },
};

/** Two believed; there is no data that could be harmed. */
const fencedOverlap: Expectation = { ...outlivedButFenced, oneOf: [], allowed: ['expired-grant'] };

/** Long enough that the pause surely meets it. */
const WORK_TO_PAUSE: PlanInput = { thinkMillis: '100ms..200ms' };

export const workloadCells: readonly CellOfWorkload[] = [
  {
    backend: 'redis-single',
    recipe: 'fenced-incr',
    fault: 'pause-holder',
    workload: 'inventory',
    // And now and then the connection to the store is lost in the middle of a write.
    settings: { ...WORK_TO_PAUSE, cutWrites: 0.01 },
    expected: sold(outlivedButFenced),
    because:
      'a buyer that was stopped writes the stock it remembers, and a sale vanishes; every other defence refuses it',
  },
  {
    backend: 'redis-single',
    recipe: 'set-nx-px',
    fault: 'pause-holder',
    workload: 'inventory',
    settings: WORK_TO_PAUSE,
    expected: sold(outlived),
    because:
      'the same without a token: what keeps the stock right is the store, and what the lock does makes no difference to it',
  },
  {
    backend: 'redis-single',
    recipe: 'set-nx-px',
    fault: 'none',
    workload: 'inventory',
    settings: {},
    expected: safe,
    because: 'the lock holds, and whoever has it asks whether its order has been applied before it sells',
  },
  {
    backend: 'redis-single',
    recipe: 'fenced-incr',
    fault: 'pause-holder',
    workload: 'fenced-register',
    // Time for several pauses: one that comes before the read shows nothing.
    settings: { locks: 1, minContendedHandoffs: 3, timeLimitMillis: '20s' },
    expected: { ...fencedTooLate, allowed: [...fencedTooLate.allowed, 'expired-grant'] },
    because:
      'the stopped holder wakes up between the read and the first write of the next one, whose token no write has shown yet',
  },
  {
    backend: 'redis-single',
    recipe: 'fenced-incr',
    fault: 'none',
    workload: 'fenced-register',
    settings: { minContendedHandoffs: 3 },
    expected: safe,
    because: 'the work takes most of the lease, and not longer',
  },
  {
    backend: 'redis-single',
    recipe: 'fenced-incr',
    fault: 'none',
    workload: 'long-hold',
    settings: {},
    expected: fencedTooLate,
    because:
      'when the lease runs out in the middle of the work, the late write comes before the first write of the next holder',
  },
  {
    backend: 'redis-single',
    recipe: 'fenced-incr',
    fault: 'pause-holder',
    workload: 'cron',
    settings: {},
    expected: fencedOverlap,
    because: 'some jobs run twice; that is waste, and the run log is right all the same',
  },
  {
    backend: 'redis-single',
    recipe: 'set-nx-px',
    fault: 'none',
    workload: 'cron',
    settings: {},
    expected: safe,
    because: 'each job runs once at each tick',
  },
  {
    backend: 'redis-single',
    recipe: 'set-nx-px',
    fault: 'none',
    workload: 'handover',
    settings: {},
    expected: safe,
    because: 'a crowd that polls is slow and unfair, and safe',
  },
  {
    backend: 'etcd',
    recipe: 'lease-queue',
    fault: 'none',
    workload: 'handover',
    settings: {},
    expected: safe,
    because: 'each waits for the one before it, so nobody is passed',
  },
  {
    backend: 'zookeeper',
    recipe: 'ephemeral-sequential',
    fault: 'none',
    workload: 'handover',
    settings: {},
    expected: safe,
    because: 'each watches the node before its own, so nobody is passed and no herd wakes up',
  },
  {
    backend: 'redis-single',
    recipe: 'fenced-incr',
    fault: 'none',
    workload: 'many-locks',
    settings: {},
    expected: safe,
    because: 'a lock is a key, and Redis has room for many',
  },
  {
    backend: 'etcd',
    recipe: 'lease-queue',
    fault: 'none',
    workload: 'many-locks',
    settings: {},
    expected: safe,
    because: 'a lock is a prefix, and etcd has room for many',
  },
];
