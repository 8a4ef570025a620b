// The grants of a lock that can matter to each other: runs of them, in order of answer, in which each is answered while an
// earlier one may still be in force or believed in. Of a lock that keeps its promise there is none, so rules that judge
// grants by pairs look at these alone, and only of these an object is made. Pure; knows no rule.

import type { Grant, Grants } from '../harness/history/grants.ts';

/** Each run is of one lock, and at some time of it more than `permits` were in force or believed in. O(n log n). */
export function* meetingGrants(grants: Grants, permits: number): Generator<readonly Grant[]> {
  const { start, holdEnd, tenureEnd, ofLock, at } = grants;
  const reachOf = (place: number): number => Math.max(holdEnd[place] ?? 0, tenureEnd[place] ?? 0);
  for (const places of ofLock) {
    let first = 0;
    let reach = -Infinity;
    for (let next = 0; next <= places.length; next++) {
      const place = places[next] ?? 0;
      if (next === places.length || (start[place] ?? 0) >= reach) {
        const run = places.subarray(first, next);
        if (mostAtOnce(run, start, reachOf) > permits) yield Array.from(run, at);
        first = next;
        reach = -Infinity;
      }
      reach = Math.max(reach, reachOf(place));
    }
  }
}

/** How many were in force or believed in when one of a run was answered, that one among them, at most. */
function mostAtOnce(run: Int32Array, start: Float64Array, reachOf: (place: number) => number): number {
  if (run.length < 2) return run.length;
  const isLasting = (place: number): boolean => reachOf(place) > (start[place] ?? 0);
  const ends = Float64Array.from(run.filter(isLasting), reachOf).sort();
  let [most, begun, ended] = [0, 0, 0];
  for (const place of run) {
    while (ended < ends.length && (ends[ended] ?? 0) <= (start[place] ?? 0)) ended++;
    most = Math.max(most, begun - ended + 1);
    if (isLasting(place)) begun++;
  }
  return most;
}
