// When the harness itself stalled, by its own account in the history: what came late then is nobody else's fault, so no
// claim of liveness rests on it. Pure; knows no rule.

import type { Interval } from './grants.ts';
import type { History } from './history.ts';

/** An event loop that stood still for longer has missed what a service with a slack of a second did in time. */
const STALL_MILLIS = 250;

/** The spans in which it did, in order; touching ones are one. O(n). */
export function stallsOf({ harness }: Pick<History, 'harness'>): readonly Interval[] {
  const stalls: Interval[] = [];
  for (const { since, time, loopDelayMillis } of harness) {
    if (loopDelayMillis < STALL_MILLIS) continue;
    const last = stalls.at(-1);
    if (last !== undefined && last.end >= since) stalls[stalls.length - 1] = { start: last.start, end: time };
    else stalls.push({ start: since, end: time });
  }
  return stalls;
}
