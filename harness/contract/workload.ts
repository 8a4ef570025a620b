// What clients do under the lock. A workload is a session script over recorded operations; the client process runs it
// in a loop until it is told to stop. The same script runs on real containers and, later, in simulation.

import type { FencingToken, LockKind, Nanos, Outcome } from '../history/op.ts';
import type { StoreRead } from './store.ts';

/** A random stream of one process; the same plan and seed give the same numbers (I6). */
export interface Random {
  /** A whole number, both ends included. */
  integer(min: number, max: number): number;
  /** In [min, max). */
  real(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
}

/** A lock that the session was granted. */
export interface HeldLock {
  readonly lock: string;
  readonly token?: FencingToken;
  /** The client has been told that the lock is gone (renewal refused, session expired). */
  readonly lost: boolean;
}

/** A write, put in both ways: a relative defence takes `add`, any other one `value` and `base`. */
export interface Update {
  readonly value: string;
  /** The version `value` was computed from. */
  readonly base: string;
  readonly add?: string;
  /** What it is done for; however often it is sent, it should be applied once. */
  readonly order?: string;
}

/** The recorded operations a session script may use; what it reads and writes goes into the history. */
export interface Session {
  readonly random: Random;
  readonly locks: readonly string[];
  /** The defences in use for this recipe; those that need a token are left out where there is none. */
  readonly defences: readonly string[];
  /** The run is over: end the session at the next step. */
  readonly stopping: boolean;
  /** The run's clock, which all processes share. */
  now(): Nanos;
  /** Sleeps until then, or until the run is over. */
  sleepUntil(time: Nanos): Promise<void>;
  /** A decimal number that no process of the run was given before. */
  fresh(): string;
  /** One attempt; undefined: not granted. */
  tryAcquire(lock: string): Promise<HeldLock | undefined>;
  /** Tries until granted; undefined: told to stop, or the patience of one session is over. */
  acquire(lock: string): Promise<HeldLock | undefined>;
  /** As `acquire`, together with others who share the lock. */
  acquireShared(lock: string): Promise<HeldLock | undefined>;
  /** Takes a lock once more that is held, with one attempt; it must be released once more. undefined: it was not had. */
  reenter(held: HeldLock): Promise<HeldLock | undefined>;
  release(held: HeldLock): Promise<void>;
  /** Works for the plan's think time, drawn at random; does not look at the lock. */
  think(): Promise<void>;
  /** undefined: the read failed or its outcome is unknown. `order`: asks whether it has been applied. */
  read(defence: string, key: string, held: HeldLock, order?: string): Promise<StoreRead | undefined>;
  write(defence: string, key: string, held: HeldLock, update: Update): Promise<Outcome>;
}

export interface Workload {
  readonly name: string;
  readonly summary: string;
  /** One turn: usually acquire → read → think → write → release. Must return when `session.stopping`. */
  run(session: Session): Promise<void>;
  /** The kind of lock that its script asks for; absent: any that one holder may have alone. */
  readonly kind?: Exclude<LockKind, 'mutex'>;
  /** Plan fields that it needs otherwise than by default, as a plan's input. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** The defences it can use; absent: any. Empty: it does not use the store. */
  readonly defences?: readonly string[];
  /** Units of each key that are in stock at first, a whole number; absent: keys hold 0, and that is no stock. */
  readonly stock?: string;
}
