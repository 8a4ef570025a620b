// The only reader of time. Every stamp of a run is CLOCK_MONOTONIC less the run's origin (I3): containers of one kernel
// share that clock, so stamps of different processes compare. Wall time is only for names and for people.

import { setTimeout as delay } from 'node:timers/promises';
import { nanos, type Millis, type Nanos } from './history/op.ts';

export interface Clock {
  /** Nanoseconds since the run's origin. */
  now(): Nanos;
  /** Rejects with the signal's reason when it is aborted first. */
  sleep(duration: Millis, signal?: AbortSignal): Promise<void>;
}

/** CLOCK_MONOTONIC now, in nanoseconds since an arbitrary point of the machine. */
export function monotonicOrigin(): bigint {
  return process.hrtime.bigint();
}

/** A clock that counts from `origin`, a reading of `monotonicOrigin` in any process of this kernel. */
export function monotonicClock(origin: bigint): Clock {
  return {
    now: () => nanos(Number(process.hrtime.bigint() - origin)),
    sleep: async (duration, signal) => {
      await delay(duration, undefined, signal === undefined ? undefined : { signal });
    },
  };
}

/** Wall time, for names of runs and for people; never for an interval. */
export function wallTime(): Date {
  return new Date();
}
