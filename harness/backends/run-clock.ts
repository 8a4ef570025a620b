// The clock of a run as a recipe needs it: the stamps of its process, and sleep.

import { monotonicClock, monotonicOrigin, type Clock } from '../clock.ts';
import type { RecipeContext } from '../contract/lock-client.ts';

export function runClock(context: Pick<RecipeContext, 'now'>): Clock {
  const clock = monotonicClock(monotonicOrigin());
  return { now: () => context.now(), sleep: (duration, signal) => clock.sleep(duration, signal) };
}
