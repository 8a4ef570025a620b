// The grants of a lock that can matter to each other: runs of them, in order of answer, in which each is answered while an
// earlier one may still be in force or believed in. Of a lock that keeps its promise there is none, so rules that judge
// grants by pairs look at these alone, and only of these an object is made. Pure; knows no rule.

import type { Grant, Grants } from '../harness/history/grants.ts';

/** Each run has two grants at least, all of one lock. O(n). */
export function* meetingGrants(grants: Grants): Generator<readonly Grant[]> {
  const { start, holdEnd, tenureEnd, ofLock, at } = grants;
  for (const places of ofLock) {
    let first = 0;
    let reach = -Infinity;
    for (let next = 0; next <= places.length; next++) {
      const place = places[next] ?? 0;
      if (next === places.length || (start[place] ?? 0) >= reach) {
        if (next - first > 1) yield Array.from(places.subarray(first, next), at);
        first = next;
        reach = -Infinity;
      }
      reach = Math.max(reach, holdEnd[place] ?? 0, tenureEnd[place] ?? 0);
    }
  }
}
