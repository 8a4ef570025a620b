// The cells of `redis-single` (5.2 of the design).

import type { Expectation } from '../../../checkers/verdict.ts';
import type { PlanInput } from '../plan.ts';
import { outlived, outlivedButFenced, safe, type CellOfBackend } from './cell.ts';
import { clientClockCell, wallClockCells } from './clock.ts';
import { scarcityCells } from './resources.ts';

/** Work that goes on for long after a pause that outlasts the lease. */
const LONGER_WORK: PlanInput = { locks: 1, thinkMillis: '1200ms..1500ms', minContendedHandoffs: 3 };

/** Work that goes on when a server is back that lost its power, and takes little of the lease. */
const BEYOND_THE_OUTAGE: PlanInput = { ttlMillis: '2s', thinkMillis: '600ms..900ms' };

/** The server comes back without what it had answered. */
const forgotten: Expectation = {
  grade: 'unsafe',
  findings: ['token-regression'],
  oneOf: [],
  liveness: [],
  allowed: ['double-grant', 'belief-overlap', 'stale-write-landed', 'lost-update', 'stale-write-accepted'],
};

export const redisSingleCells: readonly CellOfBackend[] = [
  ...wallClockCells('set-nx-px', 'no-tokens'),
  ...wallClockCells('fenced-incr', 'tokens', ['clock-jump']),
  clientClockCell('watchdog'),
  ...scarcityCells('set-nx-px'),
  ...['valkey', 'valkey-9'].map((variant): CellOfBackend => ({
    variant,
    recipe: 'fenced-incr',
    fault: 'pause-holder',
    workload: 'counter',
    settings: {},
    expected: outlivedButFenced,
    because: 'the lock does not depend on whose server it is: the late write is refused by its token',
  })),
  {
    variant: 'valkey-9',
    recipe: 'set-nx-px',
    fault: 'none',
    workload: 'counter',
    settings: {},
    expected: safe,
    because: 'one healthy server answers one command at a time',
  },
  ...['set-nx-px', 'fenced-incr'].map((recipe): CellOfBackend => ({
    recipe,
    fault: 'lose-power',
    workload: 'counter',
    settings: BEYOND_THE_OUTAGE,
    expected: safe,
    because:
      'the disk had every write before its answer (appendfsync always), so no grant goes with the power',
  })),
  {
    variant: 'everysec',
    recipe: 'fenced-incr',
    fault: 'lose-power',
    workload: 'counter',
    settings: BEYOND_THE_OUTAGE,
    expected: forgotten,
    because:
      'a grant is answered up to a second before the disk has it (appendfsync everysec): the count of tokens goes with the power, and so does the lock, unless the disk still has that of the holder before',
  },
  {
    variant: 'no-persistence',
    recipe: 'fenced-incr',
    fault: 'kill-server',
    workload: 'counter',
    settings: {},
    expected: forgotten,
    because: 'the server forgets the lock that is held, and counts tokens from one again',
  },
  ...['set-nx-px', 'watchdog', 'fenced-incr'].flatMap((recipe): CellOfBackend[] => [
    {
      recipe,
      fault: 'none',
      workload: 'counter',
      settings: {},
      expected: safe,
      because:
        'one healthy Redis answers one command at a time, and every lease outlives the work done under it',
    },
    {
      recipe,
      fault: 'kill-holder',
      workload: 'counter',
      settings: {},
      expected: safe,
      because: 'a dead holder writes nothing; its key runs out with its lease',
    },
    {
      recipe,
      fault: 'kill-server',
      workload: 'counter',
      settings: {},
      expected: safe,
      because:
        'the key was on disk before the grant was answered (appendfsync always) and keeps its absolute expiry',
    },
    {
      recipe,
      fault: 'pause-server',
      workload: 'counter',
      settings: {},
      expected: safe,
      because: 'a stopped server grants nothing, and the work is shorter than the lease',
    },
  ]),
  {
    recipe: 'set-nx-px',
    fault: 'pause-holder',
    workload: 'counter',
    settings: {},
    expected: outlived,
    because:
      'the lease runs out while its holder is stopped; it resumes, believes, and writes, with no token to stop it',
  },
  {
    recipe: 'watchdog',
    fault: 'pause-holder',
    workload: 'counter',
    settings: {},
    expected: outlived,
    because: 'a stopped process does not renew either',
  },
  {
    recipe: 'fenced-incr',
    fault: 'pause-holder',
    workload: 'counter',
    settings: {},
    expected: outlivedButFenced,
    because: 'the stopped holder still writes late, but its token is lower than one the store has seen',
  },
  {
    recipe: 'set-nx-px',
    fault: 'lose-replies',
    workload: 'counter',
    settings: {},
    expected: safe,
    because:
      'a request whose reply is lost counts as unknown: the key it may have set runs out, and nobody works under it',
  },
  {
    recipe: 'set-nx-px',
    fault: 'none',
    workload: 'long-hold',
    settings: {},
    expected: outlived,
    because: 'nothing extends the lease while the work goes on',
  },
  {
    recipe: 'watchdog',
    fault: 'none',
    workload: 'long-hold',
    settings: {},
    expected: safe,
    because: 'the lease is renewed for as long as its holder lives',
  },
  {
    recipe: 'watchdog',
    fault: 'pause-holder',
    workload: 'long-hold',
    settings: {},
    expected: outlived,
    because: 'a stopped process does not renew',
  },
  {
    recipe: 'watchdog',
    fault: 'partition-holder',
    workload: 'long-hold',
    settings: LONGER_WORK,
    expected: { ...outlived, allowed: [...outlived.allowed, 'late-loss-notice'] },
    because:
      'a holder that is cut off from the lock service only cannot renew, and its work on the store goes on',
  },
  {
    recipe: 'del-unconditional',
    fault: 'pause-holder',
    workload: 'counter',
    // Almost always held, and for long enough after the DEL that a third one is let in meanwhile.
    settings: { locks: 1, thinkMillis: '150ms..300ms' },
    expected: {
      ...outlived,
      findings: ['belief-overlap', 'foreign-release', 'double-grant'],
    },
    because:
      "the late holder's DEL removes the key of whoever holds the lock by then, and the next one is let in",
  },
  {
    recipe: 'get-then-del',
    fault: 'pause-releaser',
    workload: 'counter',
    // The client is to be stopped while the server is, 180 ms after it and 120 ms before it goes on, so that either may be
    // late on a busy machine. It must not give up on the late answer, and whoever has the lock by then must be at work.
    settings: {
      locks: 1,
      ttlMillis: '1s',
      commandTimeLimitMillis: '3s',
      thinkMillis: '60ms..120ms',
      timeLimitMillis: '20s',
    },
    expected: {
      grade: 'unsafe',
      findings: ['double-grant'],
      oneOf: [],
      liveness: [],
      allowed: ['stale-write-landed', 'lost-update', 'foreign-release', 'belief-overlap', 'expired-grant'],
    },
    because:
      'between GET and DEL the lease runs out and the key becomes that of another, which is then deleted',
  },
  {
    recipe: 'setnx-then-expire',
    fault: 'kill-acquirer',
    workload: 'counter',
    // Acquires on their way to free locks: many locks, and more time between sessions than in them.
    settings: {
      locks: 10,
      thinkMillis: '5ms..10ms',
      idleMillis: '20ms..60ms',
      minContendedHandoffs: 1,
    },
    expected: { ...safe, liveness: ['stuck-lock'] },
    because: 'a process that dies between SETNX and PEXPIRE leaves a key that never expires',
  },
  {
    recipe: 'constant-value',
    fault: 'pause-holder',
    workload: 'counter',
    // Long enough that the pause surely meets it.
    settings: { locks: 1, thinkMillis: '150ms..250ms' },
    expected: { ...outlived, findings: ['belief-overlap', 'foreign-release', 'double-grant'] },
    because: 'the late holder finds its value in the key, as everybody does, and removes the lock of another',
  },
  {
    recipe: 'renew-blind',
    fault: 'pause-holder',
    workload: 'long-hold',
    settings: LONGER_WORK,
    expected: {
      ...outlived,
      findings: ['belief-overlap', 'foreign-release'],
      allowed: [...outlived.allowed, 'late-loss-notice'],
    },
    because: 'the first thing the late holder does is to extend the lease of whoever holds the lock by now',
  },
  {
    recipe: 'renew-as-upsert',
    fault: 'pause-holder',
    workload: 'long-hold',
    settings: LONGER_WORK,
    expected: {
      ...outlived,
      findings: ['belief-overlap', 'foreign-release'],
      allowed: [...outlived.allowed, 'double-grant', 'late-loss-notice'],
    },
    because: 'the renewal of the late holder overwrites whoever holds the lock by now',
  },
  {
    recipe: 'reacquire-instead-of-lost',
    fault: 'pause-holder',
    workload: 'long-hold',
    settings: LONGER_WORK,
    expected: { ...outlived, allowed: [...outlived.allowed, 'double-grant', 'late-loss-notice'] },
    because:
      'the late holder is never told, goes on with its work for as long again, and writes what is out of date',
  },
  {
    recipe: 'token-per-process',
    fault: 'none',
    workload: 'counter',
    settings: {},
    expected: { ...safe, grade: 'unsafe', findings: ['token-regression'] },
    because: 'each client counts for itself, and the one that was granted more often has the higher token',
  },
  {
    recipe: 'token-on-volatile-key',
    fault: 'pause-server',
    workload: 'counter',
    settings: {},
    expected: { ...safe, grade: 'unsafe', findings: ['token-regression'] },
    because:
      'while the server stands still the counter runs out with the lock, and tokens start again at one',
  },
];
