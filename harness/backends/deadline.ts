// The end of a lease as its own holder counts it: from before the last request that was answered, so never later than
// the service counts. Client libraries report a lost lease or session late or never; a recipe that must not believe
// too long watches this instead. Knows no backend.

import type { Clock } from '../clock.ts';
import { millis, type Nanos } from '../history/op.ts';

export interface Deadline extends Disposable {
  /** Until when the lease may be relied upon. */
  readonly at: Nanos;
  /** Without effect if that is not later. */
  extendTo(time: Nanos): void;
}

/** Made once: an error of its own for each would cost more than the deadline. */
const DISPOSED = new Error('the deadline is watched no more');

/** Calls `onPassed` once, when the clock has passed the deadline; never after disposal. */
export function watchDeadline(clock: Clock, first: Nanos, onPassed: () => void): Deadline {
  const disposed = new AbortController();
  let at = first;
  const watch = async (): Promise<void> => {
    while (clock.now() < at) {
      try {
        await clock.sleep(millis((at - clock.now()) / 1e6 + 1), disposed.signal);
      } catch {
        return; // Disposal is the only one to abort the sleep.
      }
    }
    if (!disposed.signal.aborted) onPassed();
  };
  void watch();
  return {
    get at() {
      return at;
    },
    extendTo(time) {
      if (time > at) at = time;
    },
    [Symbol.dispose]: () => disposed.abort(DISPOSED),
  };
}
