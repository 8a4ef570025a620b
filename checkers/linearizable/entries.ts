// The input of every model checker: the operations of one partition (one lock, or one key of one store) as columns.
// `lock-entries.ts` and `store-entries.ts` fill them from a history; models, search and polynomial checkers read them.
// Nothing here knows a model, a file format or a clock: a stamp is a time or a position in a file, and only its order
// counts. Entry `a` comes before entry `b` if and only if `returned[a] < invoked[b]`; equal stamps are concurrent.
// (`column[position] ?? 0`, here and in the checkers: positions are in range, the `?? 0` is for the type checker.)

/** `returned` of an operation that need not have happened: its outcome is unknown, so it may still act, or never. */
export const NEVER = Infinity;

/** An entry that is not there, a value that is not known. */
export const NONE = -1;

/** What an entry claims. Each model understands some of them and skips the others. */
export const Kind = {
  acquire: 0,
  acquireShared: 1,
  release: 2,
  /** A release that succeeded without saying whose lock it ended: proves nothing about a lease. */
  releaseUnchecked: 3,
  renew: 4,
  /** A renewal that succeeded without checking who owns the lock. */
  renewUnchecked: 5,
  /** The service told the owner that the lock is not his. */
  disowned: 6,
  /** A try was refused because somebody held the lock. Evidence only if asked for. */
  busy: 7,
  /** The same of a try to share the lock. */
  busyShared: 8,
  read: 9,
  write: 10,
  cas: 11,
  /** A compare-and-set that found something else. Evidence only if asked for. */
  casFailed: 12,
  append: 13,
  /** Several reads and writes at one instant. */
  transaction: 14,
  /** The store refused the token: it had seen a higher one. */
  stale: 15,
} as const;

export type Kind = (typeof Kind)[keyof typeof Kind];

/** By number of a kind: 1 if it is one of `kinds`. */
export function kindsIn(kinds: readonly Kind[]): Uint8Array {
  const among = new Uint8Array(Object.keys(Kind).length);
  for (const kind of kinds) among[kind] = 1;
  return among;
}

export interface Entries {
  readonly size: number;
  /** Ascending. */
  readonly invoked: Float64Array;
  /** At least `invoked`, or `NEVER`. */
  readonly returned: Float64Array;
  readonly kind: Uint8Array;
  /** The operation's id in its history. */
  readonly id: Float64Array;
}

export interface LockEntries extends Entries {
  /** Who asks: an acquire attempt or a process, as the model wants; index into `owners`. */
  readonly owner: Int32Array;
  readonly owners: readonly string[];
  /** Of a grant: index into `tokens`, or `NONE`. */
  readonly token: Int32Array;
  /** Ascending and distinct, so tokens compare as their indices do. */
  readonly tokens: readonly bigint[];
  /** Of an acquire or renewal: how long from its invocation it surely keeps the lock, in stamps; 0: it promises nothing. */
  readonly lease: Float64Array;
}

export interface StoreEntries extends Entries {
  /** Read, written or appended: index into `values`, or `NONE` where a read did not say. Of a transaction: its index. */
  readonly value: Int32Array;
  /** What a compare-and-set expected: index into `values`. */
  readonly expected: Int32Array;
  /** The initial value is the first. */
  readonly values: readonly string[];
  /** Shown to the store: index into `tokens`, or `NONE`. */
  readonly token: Int32Array;
  /** Ascending and distinct. */
  readonly tokens: readonly bigint[];
  /** What `value` of a transaction points to: its reads and writes, in order. */
  readonly transactions: readonly (readonly Access[])[];
  /** The registers of the transactions. */
  readonly registers: readonly string[];
}

/** One step of a transaction. */
export interface Access {
  readonly write: boolean;
  /** Index into `registers`. */
  readonly register: number;
  /** Index into `values`, or `NONE` where a read did not say. */
  readonly value: number;
}

/** Gives equal things the same small whole number, in order of first appearance. */
export interface Interner<T> {
  (thing: T): number;
  readonly things: readonly T[];
}

export function interner<T>(...first: readonly T[]): Interner<T> {
  const things: T[] = [];
  const numbers = new Map<T, number>();
  const intern = (thing: T): number => {
    const known = numbers.get(thing);
    if (known !== undefined) return known;
    numbers.set(thing, things.length);
    things.push(thing);
    return things.length - 1;
  };
  for (const thing of first) intern(thing);
  return Object.assign(intern, { things });
}

/** A try was refused because the lock was held, and that counts as evidence. */
export function refusesTries({ size, kind, returned }: Entries): boolean {
  for (let entry = 0; entry < size; entry++)
    if ((kind[entry] === Kind.busy || kind[entry] === Kind.busyShared) && returned[entry] !== NEVER)
      return true;
  return false;
}

/** The same entries as they were known at stamp `until`: what had not returned by then need not have happened. */
export function prefix<E extends Entries>(entries: E, until: number): E {
  const { invoked } = entries;
  let size = entries.size;
  while (size > 0 && (invoked[size - 1] ?? 0) > until) size--;
  const returned = entries.returned.slice(0, size);
  for (const [entry, stamp] of returned.entries()) if (stamp > until) returned[entry] = NEVER;
  return { ...entries, size, returned };
}
