// Cells in which a wall clock is wrong, the same for several backends. A jump is no tolerance: a lease that the server
// ends early by its clock was certain to its holder, so the next grant of the lock is a `double-grant`.

import type { Expectation } from '../../../checkers/verdict.ts';
import type { PlanInput } from '../plan.ts';
import { givenTwice, safe, type CellOfBackend } from './cell.ts';

/** Locks are held for longer than it takes a busy machine to set three clocks. */
const HELD_FOR_LONG: PlanInput = { ttlMillis: '4s', thinkMillis: '800ms..1900ms', timeLimitMillis: '16s' };

const BECAUSE: Readonly<Record<string, string>> = {
  'clock-jump': 'keys run out by the wall clock: every lock that is held when it jumps ahead is free at once',
  'clock-back': 'what is granted while the clock is behind is free at once when the clock comes back',
  'clock-drift': 'by a clock that is four times too fast the lease is over while its holder is at work',
  'clock-strobe': 'whatever was granted while the clock was right is free whenever it is ahead',
};

/** With tokens the store that checks them stays clean. */
const givenTwiceButFenced: Expectation = { ...givenTwice, grade: 'safe-with-fencing' };

/** Of a service whose leases run on its wall clock. */
export function wallClockCells(
  recipe: string,
  tokens: 'tokens' | 'no-tokens',
  faults: readonly string[] = Object.keys(BECAUSE),
): readonly CellOfBackend[] {
  return faults.map((fault) => ({
    recipe,
    fault,
    workload: 'counter',
    settings: HELD_FOR_LONG,
    expected: tokens === 'tokens' ? givenTwiceButFenced : givenTwice,
    because: BECAUSE[fault] ?? '',
  }));
}

/** Of a recipe whose client counts its lease on the monotonic clock. */
export function clientClockCell(recipe: string): CellOfBackend {
  return {
    recipe,
    fault: 'clock-jump-client',
    workload: 'counter',
    settings: {},
    expected: safe,
    because: 'the client counts its lease, and when to renew it, on the monotonic clock, which does not jump',
  };
}

/** Of a service whose leases run on the monotonic clock. */
export function monotonicCell(recipe: string): CellOfBackend {
  return {
    recipe,
    fault: 'clock-jump',
    workload: 'counter',
    settings: {},
    expected: { ...safe, grade: 'inconclusive' },
    because: 'the service counts leases on the monotonic clock: a jump of its wall clock is not applicable',
  };
}
