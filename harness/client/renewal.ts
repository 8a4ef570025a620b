// Background renewal of one grant: a renew at a fixed pace until the holder lets go or is told that the lock is gone.
// Anything but that definite answer is tried again at the same pace, as the watchdogs of lock libraries do; so a client
// that is cut off from its lock service goes on believing. It must not touch the work under the lock.

import type { Clock } from '../clock.ts';
import type { Outcome } from '../contract/lock-client.ts';
import type { Millis } from '../history/op.ts';

export interface Renewal {
  /** No renew is sent after this; resolves when the one in flight, if any, has completed. */
  stop(): Promise<void>;
}

/** Made once: an error of its own for each would cost more than the renewal. */
const STOPPED = new Error('the renewal was stopped');

export function startRenewal(options: {
  readonly clock: Clock;
  /** From one renew's completion, at first from now, to the next renew. */
  readonly paceMillis: Millis;
  readonly renew: () => Promise<Outcome<unknown>>;
  /** Called once, if a renew was refused because somebody else owns the lock; not after `stop`. */
  readonly onLost: (reason: string) => void;
}): Renewal {
  const stopped = new AbortController();
  const { clock, paceMillis, renew, onLost } = options;
  const loop = async (): Promise<void> => {
    for (;;) {
      try {
        await clock.sleep(paceMillis, stopped.signal);
      } catch {
        return; // `stop` is the only one to abort the sleep.
      }
      const outcome = await renew();
      if (stopped.signal.aborted) return;
      if (outcome.kind === 'fail' && outcome.error === 'not-owner') {
        onLost(outcome.error);
        return;
      }
    }
  };
  const ended = loop();
  return {
    stop() {
      stopped.abort(STOPPED);
      return ended;
    },
  };
}
