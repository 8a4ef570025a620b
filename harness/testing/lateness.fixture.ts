// How late this process does what is due. Where it stood still it cannot tell in which order two things happened, nor
// can it keep what must be kept in time.

import type { Clock } from '../clock.ts';
import { millis } from '../history/op.ts';

const EVERY = millis(5);

export interface Lateness extends Disposable {
  /** How late a short sleep came at most so far; what of one is still to come counts. */
  readonly latestMillis: number;
}

/** Looks until it is disposed. */
export function watchLateness(clock: Clock): Lateness {
  const disposed = new AbortController();
  let latest = 0;
  let slept = clock.now();
  const late = (): number => (clock.now() - slept) / 1e6 - EVERY;
  const watch = async (): Promise<void> => {
    while (!disposed.signal.aborted) {
      await clock.sleep(EVERY, disposed.signal);
      latest = Math.max(latest, late());
      slept = clock.now();
    }
  };
  // Disposal is the only one to end it.
  watch().catch(() => undefined);
  return {
    get latestMillis() {
      return Math.max(latest, late());
    },
    [Symbol.dispose]: () => disposed.abort(),
  };
}
