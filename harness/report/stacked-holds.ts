// Which holds of one lock stand above each other on the timeline, because they overlap. Pure.

import { intersect, type Grant, type Interval } from '../history/grants.ts';
import { sharedBy } from './run-view.ts';

/** Beyond this many at once, holds of one lock are drawn over each other. */
const ROWS_MAX = 4;

/**
 * For each grant the row of its hold among those of its lock, and the time it shares with an earlier one. Worked out
 * here, in nanoseconds: once rounded, holds that only follow each other closely would seem to overlap.
 */
export function stackedHolds(
  grants: readonly Grant[],
): readonly { readonly grant: Grant; readonly row: number; readonly overlap: Interval | undefined }[] {
  const rows = new Map<string, Interval[]>();
  return grants.map((grant) => {
    const { lock, hold } = grant;
    const latest = rows.get(lock) ?? [];
    rows.set(lock, latest);
    const meeting = latest.filter((other) => intersect(other, hold)).sort((a, b) => b.end - a.end)[0];
    const free = latest.findIndex((other) => !intersect(other, hold));
    const row = free >= 0 ? free : Math.min(latest.length, ROWS_MAX - 1);
    latest[row] = hold;
    return { grant, row, overlap: meeting && sharedBy(meeting, hold) };
  });
}
