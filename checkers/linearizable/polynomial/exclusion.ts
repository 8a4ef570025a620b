// Whether sessions can hold a lock one after the other. Each can be shrunk to its core, and nothing but mutual exclusion
// and what owners were told asks for more room, so they can if and only if (Herlihy & Wing 1990 for the notion; the
// argument is an exchange: shrink every hold to its core)
// - no two cores overlap;
// - a session without a core, which needs one instant only, is not confined to the inside of another's core;
// - no owner was told "not yours" wholly within his own core.
// Cores do not include their ends: at equal stamps one can end and the next begin. O(n log n), O(n) if nearly sorted.

import { NONE, type LockEntries } from '../entries.ts';
import type { Reason, Refutation } from './decision.ts';
import { sortRows } from '../../../harness/history/sort-rows.ts';
import type { Sessions } from './sessions.ts';

export interface Exclusion {
  /** Rows with a core, by its begin. If nothing is refuted they are disjoint. */
  readonly cores: Int32Array;
  /** Rows without one. */
  readonly points: readonly number[];
  readonly refutation: Refutation | undefined;
}

export function exclusionOf(entries: LockEntries, sessions: Sessions): Exclusion {
  const { count, acquire, latestBegin, beginProof, earliestEnd, endProof, latestEnd } = sessions;
  const { invoked, returned } = entries;
  const points: number[] = [];
  const withCore: number[] = [];
  for (let row = 0; row < count; row++)
    ((latestBegin[row] ?? 0) < (earliestEnd[row] ?? 0) ? withCore : points).push(row);
  const cores = sortRows(withCore, latestBegin);

  let refutation: Refutation | undefined;
  const refute = (reason: Reason, conflict: readonly number[], refuted: number): void => {
    const sooner = refutation === undefined || (returned[refuted] ?? 0) < (returned[refutation.refuted] ?? 0);
    if (sooner) refutation = { verdict: 'invalid', refuted, conflict: [...new Set(conflict)], reason };
  };
  /** The acquire, what shows that it had succeeded, what shows until when it lasted. */
  const holdOf = (row: number): number[] =>
    [acquire[row] ?? 0, beginProof[row] ?? 0, endProof[row] ?? NONE].filter((entry) => entry !== NONE);

  let holder = NONE;
  for (const row of cores) {
    if (holder !== NONE && (latestBegin[row] ?? 0) < (earliestEnd[holder] ?? 0))
      refute(
        'held-by-another',
        [...holdOf(holder), acquire[row] ?? 0, beginProof[row] ?? 0],
        beginProof[row] ?? 0,
      );
    if (holder === NONE || (earliestEnd[row] ?? 0) > (earliestEnd[holder] ?? 0)) holder = row;
  }
  /** The row whose core has everything from `low` to `high` strictly inside, or `NONE`. (If cores overlap, that is refutation enough.) */
  const coreAround = (low: number, high: number): number => {
    const row = cores[coresBegunBefore(cores, latestBegin, low) - 1] ?? NONE;
    return row !== NONE && (earliestEnd[row] ?? 0) > high ? row : NONE;
  };
  for (const row of points) {
    const low = earliestEnd[row] ?? 0;
    const high = Math.min(latestBegin[row] ?? 0, latestEnd[row] ?? 0);
    const around = coreAround(low, high);
    if (around !== NONE)
      refute(
        'point-inside-hold',
        [...holdOf(around), acquire[row] ?? 0, beginProof[row] ?? 0],
        beginProof[row] ?? 0,
      );
  }
  for (const { entry, row } of sessions.disowned) {
    if (row === NONE) continue;
    const inside =
      (latestBegin[row] ?? 0) < (invoked[entry] ?? 0) && (returned[entry] ?? 0) < (earliestEnd[row] ?? 0);
    if (inside) refute('disowned-while-holding', [...holdOf(row), entry], entry);
  }
  return { cores, points, refutation };
}

/** How many of `cores` begin before `stamp`. */
export function coresBegunBefore(cores: Int32Array, latestBegin: Float64Array, stamp: number): number {
  let low = 0;
  let high = cores.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((latestBegin[cores[middle] ?? 0] ?? 0) < stamp) low = middle + 1;
    else high = middle;
  }
  return low;
}
