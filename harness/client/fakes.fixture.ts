// A lock service, a store and a clock in memory, under which the client's own parts are tested: one process, no time
// but the test's. The outcome of each request can be scripted.

import type { Clock } from '../clock.ts';
import type { LockClient, Outcome } from '../contract/lock-client.ts';
import type { StoreClient } from '../contract/store.ts';
import { fencingToken, millis, nanos, nanosOf, type HistoryEvent, type Nanos } from '../history/op.ts';
import { openRecorder, type Recorder } from './recorder.ts';

/** A clock that moves only when asked to; sleepers wake in the order of their time. */
export interface FakeClock extends Clock {
  /** Moves time, waking sleepers on the way, and lets what they do settle. */
  elapse(milliseconds: number): Promise<void>;
  /** Whether anybody sleeps. */
  readonly asleep: boolean;
}

export function fakeClock(): FakeClock {
  let time = nanos(0);
  let sleepers: { readonly at: Nanos; readonly wake: () => void }[] = [];
  return {
    now: () => time,
    sleep: (duration, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const sleeper = { at: nanos(time + nanosOf(duration)), wake: resolve };
        sleepers.push(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers = sleepers.filter((other) => other !== sleeper);
          reject(new Error('aborted'));
        });
      }),
    async elapse(milliseconds) {
      const end = nanos(time + nanosOf(millis(milliseconds)));
      await settled();
      for (;;) {
        const next = sleepers.toSorted((a, b) => a.at - b.at)[0];
        if (next === undefined || next.at > end) break;
        sleepers = sleepers.filter((sleeper) => sleeper !== next);
        time = next.at;
        next.wake();
        await settled();
      }
      time = end;
      await settled();
    },
    get asleep() {
      return sleepers.length > 0;
    },
  };
}

/** Until every promise that can settle without time or input has. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

export interface Scripted {
  acquire?: () => Outcome<never> | undefined;
  renew?: () => Outcome<never> | undefined;
  release?: () => Outcome<never> | undefined;
  read?: () => Outcome<never> | undefined;
  cut?: () => void;
  leave?: (key: string) => void;
}

/** Grants whatever is asked for, with growing tokens, unless the script says otherwise. */
export function fakeLocks(script: Scripted, calls: string[] = []): LockClient {
  let token = 0;
  return {
    async acquire(request) {
      calls.push(`acquire ${request.owner}`);
      token += 1;
      return (
        script.acquire?.() ?? {
          kind: 'ok',
          value: { request, token: fencingToken(String(token)), validUntil: nanos(1) },
        }
      );
    },
    async renew({ request }) {
      calls.push(`renew ${request.owner}`);
      return script.renew?.() ?? { kind: 'ok', value: { validUntil: nanos(2) } };
    },
    async release({ request }) {
      calls.push(`release ${request.owner}`);
      return script.release?.() ?? { kind: 'ok', value: { released: true } };
    },
    async abandon(request) {
      calls.push(`abandon ${request.owner}`);
      return { kind: 'ok', value: { released: false } };
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** One register per defence and key, all of them 0 at first; refuses nothing unless the script says otherwise. */
export function fakeStore(script: Scripted = {}): StoreClient {
  const values = new Map<string, { value: string; version: number }>();
  const at = (defence: string, key: string) => values.get(`${defence} ${key}`) ?? { value: '0', version: 0 };
  return {
    async read(defence, { key }) {
      const { value, version } = at(defence, key);
      return script.read?.() ?? { kind: 'ok', value: { value, version: String(version) } };
    },
    async write(defence, { key, value }) {
      const version = at(defence, key).version + 1;
      values.set(`${defence} ${key}`, { value, version });
      return { kind: 'ok', value: { version: String(version) } };
    },
    audit: async () => ({ kind: 'ok', value: [] }),
    cut: () => script.cut?.(),
    leave: async (key) => script.leave?.(key),
    seal: async () => ({ kind: 'ok', value: [] }),
    [Symbol.asyncDispose]: async () => {},
  };
}

export interface Tape {
  readonly events: HistoryEvent[];
  readonly recorder: Recorder;
}

/** A recorder of process c1 with ids 1, 11, 21, … that keeps what it writes. */
export function tape(locks: LockClient, store: StoreClient, now: () => Nanos): Tape {
  const events: HistoryEvent[] = [];
  const recorder = openRecorder({
    process: 'c1',
    firstId: 1,
    idStep: 10,
    ttlMillis: millis(900),
    polls: true,
    relative: new Set(['relative']),
    locks,
    store,
    now,
    write: (event) => events.push(event),
  });
  return { events, recorder };
}
