// The cells of `etcd` (5.2 of the design). The cluster gives no lock twice; what can go wrong is a holder that believes
// for longer than its lease, and only the token stops its late write.

import type { Expectation } from '../../../checkers/verdict.ts';
import type { PlanInput } from '../plan.ts';
import { monotonicCell } from './clock.ts';
import { outlived, outlivedButFenced, safe, type CellOfBackend } from './cell.ts';

/** Work that takes longer than the lease, and longer than a pause that outlasts the lease. */
export const LONG_WORK: PlanInput = {
  ttlMillis: '1s',
  thinkMillis: '1200ms..1600ms',
  minContendedHandoffs: 3,
};
/** So much longer that the holder, when it goes on, has work left for longer than a slow notice could take. */
export const LONGEST_WORK: PlanInput = {
  ttlMillis: '1s',
  thinkMillis: '3200ms..3600ms',
  locks: 1,
  minContendedHandoffs: 1,
};

/** Told as soon as it goes on, it stops; whether it does harm before that is a matter of milliseconds. */
export const outlivedAndTold: Expectation = { ...outlivedButFenced, oneOf: [] };

/** It works to the end; what its release would have found out may be lost in the cut. */
export const outlivedInTheDark: Expectation = {
  ...outlivedButFenced,
  allowed: [...outlivedButFenced.allowed, 'late-loss-notice'],
};

/** Nobody told it, and it did not ask. */
export const outlivedUntold: Expectation = {
  ...outlivedAndTold,
  findings: ['belief-overlap', 'late-loss-notice'],
};

export const etcdCells: readonly CellOfBackend[] = [
  monotonicCell('lease-txn-guard'),
  {
    recipe: 'lease-txn-guard',
    fault: 'order-failover',
    workload: 'counter',
    settings: {},
    expected: safe,
    because: 'the member that takes over has every lease, and lets each run once more in full',
  },
  ...['etcd3-lock', 'lease-queue', 'lease-txn-guard'].flatMap((recipe): CellOfBackend[] => [
    {
      recipe,
      fault: 'none',
      workload: 'counter',
      settings: {},
      expected: safe,
      because: 'a majority agrees on who created the key, and every lease outlives the work done under it',
    },
    {
      recipe,
      fault: 'kill-holder',
      workload: 'counter',
      settings: {},
      expected: safe,
      because: 'a dead holder writes nothing; its key goes with its lease',
    },
    {
      recipe,
      fault: 'kill-server',
      workload: 'counter',
      settings: {},
      expected: safe,
      because: 'two of three members go on; a new leader restarts every lease in full',
    },
    {
      recipe,
      fault: 'kill-leader',
      workload: 'counter',
      settings: { minContendedHandoffs: 5 },
      expected: safe,
      because: 'what was committed is on the disks of a majority, and the new leader has it',
    },
    {
      recipe,
      fault: 'partition-leader',
      workload: 'counter',
      settings: { minContendedHandoffs: 5 },
      expected: safe,
      because: 'a leader that no majority follows commits nothing; the one that is elected knows every lock',
    },
    {
      recipe,
      fault: 'pause-leader',
      workload: 'counter',
      settings: { minContendedHandoffs: 5 },
      expected: safe,
      because: 'a stopped leader is replaced, and learns of it before it answers again',
    },
    {
      recipe,
      fault: 'pause-server',
      workload: 'counter',
      settings: {},
      expected: safe,
      because:
        'two of three members go on, and one that was stopped answers nothing that they have not agreed on',
    },
    {
      recipe,
      fault: 'none',
      workload: 'long-hold',
      settings: LONG_WORK,
      expected: safe,
      because: 'the lease is kept alive for as long as its holder lives',
    },
  ]),
  {
    recipe: 'lease-queue',
    fault: 'bridge',
    workload: 'counter',
    settings: { minContendedHandoffs: 5 },
    expected: safe,
    because:
      'whoever hears a majority may lead, and the member between the two halves follows only one of them',
  },
  {
    recipe: 'etcd3-lock',
    fault: 'pause-holder',
    workload: 'counter',
    settings: {},
    expected: { ...outlived, oneOf: [] },
    because:
      'the lease ends while its holder is stopped; it goes on, and has no token that could stop its write',
  },
  {
    recipe: 'lease-queue',
    fault: 'pause-holder',
    workload: 'counter',
    settings: {},
    expected: outlivedAndTold,
    because:
      'the stopped holder still writes late, but its create revision is lower than one the store has seen',
  },
  {
    recipe: 'lease-txn-guard',
    fault: 'pause-holder',
    workload: 'counter',
    settings: {},
    expected: outlivedAndTold,
    because:
      'stores outside take the late write as before; the register in etcd, judged as a fully fenced store, must stay clean',
  },
  {
    recipe: 'lease-queue',
    fault: 'pause-holder',
    workload: 'long-hold',
    settings: LONGEST_WORK,
    expected: outlivedAndTold,
    because: 'its own deadline has passed when it goes on, so it stops at once',
  },
  {
    recipe: 'etcd-ignores-lease-loss',
    fault: 'pause-holder',
    workload: 'long-hold',
    settings: LONGEST_WORK,
    expected: outlivedUntold,
    because: 'its lease is gone when it goes on, and it works to the end all the same',
  },
  {
    recipe: 'lease-queue',
    fault: 'partition-holder',
    workload: 'long-hold',
    settings: LONGEST_WORK,
    expected: safe,
    because: 'it counts its deadline from before its last renewal left, so it stops before the lease can end',
  },
  {
    recipe: 'etcd3-lock',
    fault: 'partition-holder',
    workload: 'long-hold',
    // Twice the TTL after the last renewal is over before the work is, wherever in a lease the cut comes.
    settings: { ...LONGEST_WORK, ttlMillis: '2s', thinkMillis: '6200ms..6600ms', timeLimitMillis: '15s' },
    expected: { ...outlived, findings: ['belief-overlap', 'late-loss-notice'], oneOf: [] },
    because:
      'the library says that the lease is lost when twice the TTL has passed, and until then its user believes',
  },
  {
    recipe: 'etcd-ignores-lease-loss',
    fault: 'partition-holder',
    workload: 'long-hold',
    settings: LONGEST_WORK,
    expected: outlivedInTheDark,
    because: 'it cannot renew its lease and does not look, so it works to the end',
  },
];
