// The cells of `redlock` (5.2 of the design). There is no token, so whatever harm is done is done.

import type { PlanInput } from '../plan.ts';
import { givenTwice, outlived, safe, type CellOfBackend } from './cell.ts';
import { clientClockCell, wallClockCells } from './clock.ts';

/** Work that outlasts the restart of a server, with a lease that outlasts the work; and somebody waits for each lock. */
const SLOW_WORK: PlanInput = {
  ttlMillis: '8s',
  thinkMillis: '3s..3900ms',
  pollMillis: '40ms..80ms',
  clients: 12,
  locks: 4,
  timeLimitMillis: '14s',
  minContendedHandoffs: 3,
};

/** Votes of silent servers are waited for long enough to stop a client meanwhile, and most locks asked for are free. */
const SLOW_VOTES: PlanInput = { commandTimeLimitMillis: '2s', locks: 8 };

export const redlockCells: readonly CellOfBackend[] = [
  ...wallClockCells('redlock', 'no-tokens'),
  clientClockCell('redlock'),
  {
    recipe: 'redlock',
    fault: 'none',
    workload: 'counter',
    settings: {},
    expected: safe,
    because: 'two majorities of five have a server in common, and that one gives the key once',
  },
  {
    recipe: 'redlock',
    fault: 'kill-minority',
    workload: 'counter',
    settings: {},
    expected: safe,
    because: 'three servers are a majority and remember what they gave',
  },
  {
    recipe: 'redlock',
    fault: 'pause-holder',
    workload: 'counter',
    settings: {},
    expected: outlived,
    because: 'the lease runs out while its holder is stopped, and there is no token to stop its late write',
  },
  {
    recipe: 'redlock',
    fault: 'pause-acquirer',
    workload: 'counter',
    settings: SLOW_VOTES,
    expected: safe,
    because:
      'a client that was stopped while it voted finds no time left, refuses the grant and gives it back',
  },
  {
    recipe: 'redlock-no-validity-check',
    fault: 'pause-acquirer',
    workload: 'counter',
    settings: SLOW_VOTES,
    expected: {
      grade: 'unsafe',
      findings: ['expired-grant'],
      oneOf: [],
      liveness: [],
      allowed: ['belief-overlap', 'double-grant', 'stale-write-landed', 'lost-update'],
    },
    because: 'a client that was stopped while it voted takes votes for a grant that have run out since',
  },
  {
    recipe: 'redlock-minority',
    fault: 'none',
    workload: 'counter',
    settings: { locks: 1 },
    expected: givenTwice,
    because:
      'of clients that ask at the same time, one gets three votes and another two, and both are content',
  },
  {
    variant: 'no-persistence',
    recipe: 'redlock',
    fault: 'restart-voter',
    workload: 'counter',
    settings: SLOW_WORK,
    expected: givenTwice,
    because: 'the server that voted has forgotten it, and with the two that were away makes another majority',
  },
  {
    recipe: 'redlock',
    fault: 'restart-voter',
    workload: 'counter',
    settings: SLOW_WORK,
    expected: safe,
    because: 'the vote was on disk before it was answered, and is there again after the restart',
  },
  {
    variant: 'delayed-restart',
    recipe: 'redlock',
    fault: 'restart-voter',
    workload: 'counter',
    settings: { ...SLOW_WORK, timeLimitMillis: '18s' },
    expected: safe,
    because: 'a server that has forgotten its votes comes back when their leases have run out',
  },
  {
    recipe: 'redlock',
    fault: 'restart-voter-empty',
    workload: 'counter',
    settings: SLOW_WORK,
    expected: givenTwice,
    because: 'no discipline in writing to disk helps a server whose disk was replaced',
  },
];
