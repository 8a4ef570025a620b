// What lockpick asks of a lock library: the narrow interface a recipe (or a user's adapter) implements. It says what
// happened as a value, never by throwing; recording, retrying and renewing are done above it, in `client/`.

import type { FencingToken, LockKind, Millis, Nanos, Vote } from '../history/op.ts';
import type { Defence, Register } from './store.ts';

/** What came of one request (I4): `fail` only where the error table says that it has not happened and never will. */
export type Outcome<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'fail'; readonly error: string }
  | { readonly kind: 'info'; readonly error: string };

/** One attempt to get a lock. */
export interface AcquireRequest {
  readonly lock: string;
  readonly ttlMillis: Millis;
  /** A value never used before, the same for everything this attempt does; of a re-entry that of the attempt it is in. */
  readonly owner: string;
  /** Together with others who share it; only of a recipe for a read-write lock. */
  readonly shared?: true;
  /** So many may hold it at once; only of a recipe for a semaphore, and absent if it is to be its own number. */
  readonly permits?: number;
  /** A recipe that waits in the service gives up after about this long, with `busy`; absent: after one TTL. */
  readonly patienceMillis?: Millis;
}

/** What a successful attempt was given. */
export interface Grant {
  readonly request: AcquireRequest;
  /** Where the service makes fencing tokens. */
  readonly token?: FencingToken;
  /** Until when, on this client's clock, the client may believe it holds the lock. Absent: no lease. */
  readonly validUntil?: Nanos;
}

/** What came of an attempt, and what each server answered where several were asked. */
export type Acquired = Outcome<Grant> & { readonly votes?: readonly Vote[] };

/**
 * A lock library in use by one process. Every method settles within the client's own time limits and never rejects;
 * past a limit the outcome is `info` and the connection is given up.
 */
export interface LockClient extends AsyncDisposable {
  /** One attempt. `fail` with `busy`: held by another. */
  acquire(request: AcquireRequest): Promise<Acquired>;
  /** Extends the lease by the request's TTL. `fail` with `not-owner`: it is gone. Absent: no renewal. */
  renew?(grant: Grant): Promise<Outcome<{ readonly validUntil?: Nanos }>>;
  /** Gives it back. `released` false: it had ended before; absent: the service does not say whose lock it removed. */
  release(grant: Grant): Promise<Outcome<{ readonly released?: boolean }>>;
  /**
   * After an `info` acquire: takes back what it may have left behind, on a fresh connection, best effort. Of a re-entry:
   * all that its owner has, since nobody knows how often it came in.
   */
  abandon(request: AcquireRequest): Promise<Outcome<{ readonly released?: boolean }>>;
  /** Where the recipe says that it has one. */
  readonly register?: Register;
}

/** A register inside the lock service, and the store outside whose promise it makes: rules judge it by that one. */
export interface GuardedRegister extends Defence {
  readonly judgedAs: 'fence-on-write' | 'fence-on-read-and-write';
}

/** What a recipe is, apart from its code: recorded in the history's meta, listed by `lockpick list`. */
export interface Recipe {
  readonly name: string;
  /** One line for people. */
  readonly summary: string;
  /** Where its fencing token comes from; undefined: it has none. */
  readonly tokenSource?: string;
  /** `acquire` does not wait: the client polls. */
  readonly polls: boolean;
  /** The client renews in the background at this fraction of the TTL; undefined: never. */
  readonly renewAt?: number;
  /** A grant lasts as long as the client's session; no TTL bounds it, and none is recorded. */
  readonly sessionBound?: true;
  /** First come, first served: its tokens are places in a queue. */
  readonly fifo?: true;
  /** Its library prolongs a grant by itself, unrecorded, and is the one to notice when it ends. */
  readonly keepsAlive?: true;
  /** Its renew and release check that the caller is the owner, atomically. */
  readonly ownerChecked: boolean;
  /** A register inside the lock service, protected by it: one more store beside those outside (I8). */
  readonly register?: GuardedRegister;
  /** What kind of lock it makes; absent: one that a single holder has alone. */
  readonly kind?: Exclude<LockKind, 'mutex'>;
  /** Of a semaphore: so many may hold it at once, unless the request has another number. */
  readonly permits?: number;
  /** It is wrong on purpose; this is what is wrong with it. */
  readonly flaw?: string;
  /** Loads the driver of its service; awaited once, before the first `open`. Absent: there is nothing to load. */
  load?(): Promise<unknown>;
  /** Opens a client for the process named `process`, which can reach `servers` (name → host and port). */
  open(context: RecipeContext): LockClient;
}

export interface RecipeContext {
  readonly process: string;
  readonly servers: readonly { readonly name: string; readonly host: string; readonly port: number }[];
  readonly commandTimeLimit: Millis;
  /** The run's clock. */
  now(): Nanos;
  /** The library noticed by itself that a grant is gone (session ended, deadline passed). Once a grant, at once. */
  onLost(request: AcquireRequest, reason: string): void;
}

/** One row of a backend's error table: what a driver's error means for the operation. */
export interface ErrorMeaning {
  /** Matched against the start of the server's error reply, or the driver's error code. */
  readonly match: string;
  /** The word that goes into the history. */
  readonly error: string;
  /** It did not happen and never will; false: unknown (`info`). */
  readonly definite: boolean;
  readonly meaning: string;
  /** Vendor document or source, with version. */
  readonly source: string;
}
