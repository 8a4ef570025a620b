// The vocabulary of a history: what one line of `history.jsonl` can say (format `lockpick-history`, version 1).
// Kernel of the project: everything may import this, it imports nothing. Clients produce these events, the journal
// stores them, `history.ts` pairs them into operations, checkers interpret them. It must not know any backend.

declare const unit: unique symbol;

/** Nanoseconds since the start of the run, on the run's one clock (I3). A safe integer. */
export type Nanos = number & { readonly [unit]: 'nanos' };
/** A duration in milliseconds; finite, not negative. */
export type Millis = number & { readonly [unit]: 'millis' };
/** A fencing token: grows with every grant of a lock, if the service keeps its promise. */
export type FencingToken = bigint & { readonly [unit]: 'token' };

/** Makes a `Nanos`. Throws RangeError unless `value` is a safe integer. */
export function nanos(value: number): Nanos {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not a whole number of nanoseconds: ${value}`);
  return value as Nanos;
}

/** Makes a `Millis`. Throws RangeError unless `value` is finite and not negative. */
export function millis(value: number): Millis {
  if (!Number.isFinite(value) || value < 0) throw new RangeError(`not a duration in milliseconds: ${value}`);
  return value as Millis;
}

/** The same duration in nanoseconds, rounded to a whole one. */
export function nanosOf(duration: Millis): Nanos {
  return nanos(Math.round(duration * 1e6));
}

/** Makes a token from its decimal text. Throws SyntaxError unless it is a whole decimal number. */
export function fencingToken(text: string): FencingToken {
  if (!/^-?\d+$/.test(text)) throw new SyntaxError(`not a decimal fencing token: ${JSON.stringify(text)}`);
  return BigInt(text) as FencingToken;
}

export const HISTORY_FORMAT = 'lockpick-history';
export const HISTORY_VERSION = 1;

export type OpName = 'acquire' | 'renew' | 'release' | 'read' | 'write' | 'cas';

/** `ok` it happened · `fail` it did not and never will · `info` unknown: it may take effect later, or never (I4). */
export type Outcome = 'ok' | 'fail' | 'info';

/** `reentrant`: its holder may take it again, and gives it back as often. `read-write`: some acquires share it. */
export const LOCK_KINDS = ['mutex', 'semaphore', 'reentrant', 'read-write'] as const;
export type LockKind = (typeof LOCK_KINDS)[number];

/** What the run was about. All fields are optional in files of other origin; unknown ones are kept and ignored. */
export interface HistoryMeta {
  readonly backend?: string;
  readonly recipe?: string;
  readonly workload?: string;
  readonly fault?: string;
  readonly seed?: string;
  readonly ttlMillis?: number;
  /** How much the lock service's clock may run fast against ours, as a fraction. Default 0.01. */
  readonly clockTolerance?: number;
  /** Clients check their own deadline before they act, so `validUntil` ends a hold. Default false. */
  readonly deadlineAware?: boolean;
  /** A renew or release that answered `ok` proves that the caller still owned the lock. Default true. */
  readonly ownerChecked?: boolean;
  /** The recipe hands out fencing tokens. Default: judged by whether any grant carries one. */
  readonly tokens?: boolean;
  /** The client library prolongs grants by itself and is the one to tell that one is lost. Default false. */
  readonly keptAlive?: boolean;
  /** How long past the TTL the backend may take until an abandoned lock can be had again. Default 1000. */
  readonly slackMillis?: number;
  /** Store name → the defence it runs (2.6). Default: a store is named after its defence; see `defenceOf`. */
  readonly stores?: Readonly<Record<string, string>>;
  /** Every process of a complete history ends with `down`; one that lacks it was cut off (the harness was killed). */
  readonly closedByDown?: boolean;
  /** Units of each key that were in stock at first, where writes sell them; a whole number. */
  readonly stock?: string;
  /** The recipe's queue is first come, first served; its tokens are the places. Default false. */
  readonly fifo?: boolean;
  /** Contended hand-offs below which a clean result means nothing. Default 1. */
  readonly minContendedHandoffs?: number;
  /** What kind of lock the recipe makes. Default `mutex`. */
  readonly kind?: LockKind;
  /** Of a semaphore: so many may hold it at once. Default 1. */
  readonly permits?: number;
  /** Fault kinds that the plan asked for; empty: none were planned. */
  readonly plannedFaults?: readonly string[];
  readonly [other: string]: unknown;
}

export interface Header {
  readonly format: typeof HISTORY_FORMAT;
  readonly version: typeof HISTORY_VERSION;
  /** `shared`: all stamps were read from one clock. `measured`: offsets were measured, off by ≤ `clockErrorNanos`. */
  readonly clock: string;
  readonly clockErrorNanos: number;
  readonly meta: HistoryMeta;
}

/** The arguments of an operation, as its client chose them before the request left. */
export interface Invoke {
  readonly type: 'invoke';
  readonly id: number;
  readonly time: Nanos;
  readonly process: string;
  readonly op: OpName;
  /** acquire, renew, release; on read/write/cas the lock that is meant to protect the key, if it is not the key. */
  readonly lock?: string;
  /** acquire: does not wait. */
  readonly try?: boolean;
  /** acquire: together with others who share it, as readers do. */
  readonly shared?: boolean;
  /** acquire, renew: the lease asked for. Absent: the service has no lease. */
  readonly ttlMillis?: Millis;
  /** acquire: the value never used before that marks this attempt in the service. */
  readonly owner?: string;
  /** read, write, cas. */
  readonly store?: string;
  readonly key?: string;
  /** write: the new value. cas: the new value. */
  readonly value?: string;
  /** write, cas: the version this value was computed from. */
  readonly base?: string;
  /** write: relative. The store adds this whole number to what is there; `value` is what its client expects of it. */
  readonly add?: string;
  /** read: whether this order has been applied is asked as well. write: the order it applies. */
  readonly order?: string;
  /** read, write, cas: the fencing token shown to the store. */
  readonly token?: FencingToken;
}

/** How an operation ended, as its client learned it. */
export interface Completion {
  readonly type: Outcome;
  readonly id: number;
  readonly time: Nanos;
  readonly process: string;
  readonly op: OpName;
  /** fail, info: a word of the error table, such as `busy`, `stale-token`, `timeout`. */
  readonly error?: string;
  /** acquire: the grant's token. */
  readonly token?: FencingToken;
  /** acquire, renew: the client's own view of how long its lease is valid. */
  readonly validUntil?: Nanos;
  /** release: true: the caller's tenure was ended by it; false: it had ended before; absent: the service did not say. */
  readonly released?: boolean;
  /** read: what was there. */
  readonly value?: string;
  /** read, write, cas: the version read, or made by the write. */
  readonly version?: string;
  /** read that asked for an order: it has been applied. */
  readonly applied?: boolean;
  /** read after the run: no write that was sent before can take effect after it. */
  readonly sealed?: boolean;
  /** write refused for a stale token: the highest token seen by the store. */
  readonly highest?: FencingToken;
  /** acquire: what each server answered, where the recipe asks several. */
  readonly votes?: readonly Vote[];
  /** read by the coordinator after the run: the store's own append-only record of this key (2.6), in its order. */
  readonly audit?: readonly AuditRow[];
}

/** One server's answer to an acquire that asks several, such as Redlock's. */
export interface Vote {
  readonly node: string;
  /** `granted`, `busy`, or the word of the error table for what went wrong. */
  readonly answer: string;
  /** When the client had the answer, or gave up waiting for it. */
  readonly at: Nanos;
}

/** One attempt to write, as the store itself recorded it. */
export interface AuditRow {
  /** Position in the store's own order; grows, with gaps. */
  readonly seq: string;
  /** The id and process of the write operation in this history. */
  readonly id: number;
  readonly process: string;
  readonly token?: FencingToken;
  /** The version the writer had read. */
  readonly base: string;
  /** The version that was current when the attempt took effect. */
  readonly version: string;
  /** Of an accepted one: what was there afterwards. */
  readonly value: string;
  readonly order?: string;
  readonly accepted: boolean;
}

/** The client library said that the lock is gone. */
export interface Lost {
  readonly type: 'lost';
  readonly time: Nanos;
  readonly process: string;
  readonly lock: string;
  readonly reason: string;
}

/** The process ended: it believes nothing any more. Stamped no later than its death. */
export interface Down {
  readonly type: 'down';
  readonly time: Nanos;
  readonly process: string;
  readonly reason: string;
}

export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };
export type JsonRecord = { readonly [key: string]: Json | undefined };

/** A fault was asked for (`begin`), was proved to act (`acted`), is over (`end`) (I5). */
export interface FaultEvent {
  readonly type: 'fault';
  readonly phase: 'begin' | 'acted' | 'end';
  readonly id: string;
  readonly time: Nanos;
  readonly fault: string;
  readonly targets: readonly string[];
  readonly params?: JsonRecord;
  readonly evidence?: JsonRecord;
}

/** A server's role as observed. */
export interface ServerEvent {
  readonly type: 'server';
  readonly time: Nanos;
  readonly node: string;
  readonly role: string;
  readonly term?: string;
}

/** How the harness itself fared since `since`: what it was late for is nobody else's fault. */
export interface HarnessEvent {
  readonly type: 'harness';
  readonly time: Nanos;
  readonly since: Nanos;
  /** The longest time for which its event loop stood still. */
  readonly loopDelayMillis: Millis;
  /** For how long at least one process on the machine waited for a processor, if the kernel counts that. */
  readonly cpuWaitMillis?: Millis;
  /** Where it does not: processor time that the machine was denied by what it runs on. */
  readonly cpuStolenMillis?: Millis;
}

export type HistoryEvent = Invoke | Completion | Lost | Down | FaultEvent | ServerEvent | HarnessEvent;
