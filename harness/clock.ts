// The only reader of time. Every stamp of a run is CLOCK_MONOTONIC less the run's origin (I3): containers of one kernel
// share that clock, so stamps of different processes compare. Wall time is only for names and for people. Because there
// is no other reader, a simulation that puts its own time here has put it everywhere.

import { setTimeout as delay } from 'node:timers/promises';
import { nanos, type Millis, type Nanos } from './history/op.ts';

export interface Clock {
  /** Nanoseconds since the run's origin. */
  now(): Nanos;
  /** Rejects with the signal's reason when it is aborted first. */
  sleep(duration: Millis, signal?: AbortSignal): Promise<void>;
}

/** Calls back once, later; what it returns calls that off. */
export type Timer = (duration: Millis, action: () => void) => () => void;

/** Where time comes from. */
export interface TimeSource {
  /** Nanoseconds since an arbitrary point, never going back. */
  readonly monotonic: () => bigint;
  readonly sleep: Clock['sleep'];
  /** Milliseconds since 1970. */
  readonly wallMillis: () => number;
}

const machine: TimeSource = {
  monotonic: () => process.hrtime.bigint(),
  sleep: async (duration, signal) => {
    await delay(duration, undefined, signal === undefined ? undefined : { signal });
  },
  wallMillis: () => Date.now(),
};

let source = machine;

/** Until it is disposed, clocks that are made in this thread go by `other`; those that were made before go on as they did. */
export function goBy(other: TimeSource): Disposable {
  const before = source;
  source = other;
  return {
    [Symbol.dispose]: () => {
      source = before;
    },
  };
}

/** CLOCK_MONOTONIC now, in nanoseconds since an arbitrary point of the machine. */
export function monotonicOrigin(): bigint {
  return source.monotonic();
}

/** A clock that counts from `origin`, a reading of `monotonicOrigin` in any process of this kernel. */
export function monotonicClock(origin: bigint): Clock {
  const own = source;
  return {
    now: () => nanos(Number(own.monotonic() - origin)),
    sleep: (duration, signal) => own.sleep(duration, signal),
  };
}

/** By the machine. */
export const machineTimer: Timer = (duration, action) => {
  const timer = setTimeout(action, duration);
  return () => clearTimeout(timer);
};

/** Wall time, for names of runs and for people; never for an interval. */
export function wallTime(): Date {
  return new Date(source.wallMillis());
}
