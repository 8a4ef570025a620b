// The operations of a history as columns: one array for each field instead of one object for each operation, so that a
// million of them take a tenth of the memory and nothing of the garbage collector's time. `history.ts` fills them; what has
// to look at every operation (grants, screens of rules, entries of models) reads them; an operation is made of a row
// where somebody wants to tell of it. Kernel; knows no rule.
// (`column[row] ?? 0`, wherever columns are read: rows are in range, the `?? 0` is for the type checker.)

import type { Acquire, Operation, Read, Release, Renew, Write } from './history.ts';
import {
  millis,
  nanos,
  type AuditRow,
  type FencingToken,
  type Millis,
  type Nanos,
  type OpName,
  type Outcome,
} from './op.ts';

/** What stands in the column `op`. */
export const Op = { acquire: 0, renew: 1, release: 2, read: 3, write: 4, cas: 5 } as const;
/** What stands in the column `outcome`. */
export const Came = { info: 0, ok: 1, fail: 2 } as const;

const OPS = ['acquire', 'renew', 'release', 'read', 'write', 'cas'] as const;
const OUTCOMES = ['info', 'ok', 'fail'] as const;

/** `completed` of an operation that was never answered; `ttlMillis` and `validUntil` where there is none. */
export const NEVER = Infinity;
/** No row. */
export const NONE = -1;

/** In order of invocation; ties by id. */
export interface OperationColumns {
  readonly size: number;
  readonly op: Uint8Array;
  readonly outcome: Uint8Array;
  readonly id: Float64Array;
  readonly invoked: Float64Array;
  /** Or `NEVER`. */
  readonly completed: Float64Array;
  /** Position in `processes`, and in `locks`: both in order of first appearance. */
  readonly process: Int32Array;
  readonly lock: Int32Array;
  /** Two bits for each of `FLAGS`. */
  readonly flags: Uint16Array;
  /** Or `NEVER`. A column that nobody has written to is empty, here and below. */
  readonly ttlMillis: Float64Array;
  readonly validUntil: Float64Array;
  /** Position in `texts`; 0: there is none. */
  readonly error: Int32Array;
  readonly owner: Int32Array;
  readonly store: Int32Array;
  readonly key: Int32Array;
  readonly value: Int32Array;
  readonly base: Int32Array;
  readonly add: Int32Array;
  readonly order: Int32Array;
  readonly version: Int32Array;
  /** Position in `tokens`; 0: there is none. */
  readonly token: Int32Array;
  readonly highest: Int32Array;
  /** Position in `audits`; 0: there is none. */
  readonly audit: Int32Array;
  readonly processes: readonly string[];
  readonly locks: readonly string[];
  readonly texts: readonly string[];
  readonly tokens: readonly FencingToken[];
  readonly audits: readonly (readonly AuditRow[])[];
}

/** Their positions in `flags`. */
export const FLAGS = { try: 0, shared: 2, released: 4, applied: 6, sealed: 8 } as const;
export type Flag = keyof typeof FLAGS;

/** undefined: the operation does not say. */
export function flagAt({ flags }: OperationColumns, row: number, flag: Flag): boolean | undefined {
  const bits = ((flags[row] ?? 0) >> FLAGS[flag]) & 3;
  return bits === 0 ? undefined : bits === 2;
}

export type TextColumn = 'error' | 'owner' | 'store' | 'key' | 'value' | 'base' | 'add' | 'order' | 'version';

/** undefined: the operation has none. */
export function textAt(columns: OperationColumns, row: number, name: TextColumn): string | undefined {
  return thingAt(columns[name], columns.texts, row);
}

/** undefined: the operation has none. */
export function tokenAt({ token, tokens }: OperationColumns, row: number): FencingToken | undefined {
  return thingAt(token, tokens, row);
}

function thingAt<T>(column: Int32Array, things: readonly T[], row: number): T | undefined {
  const position = column[row] ?? 0;
  return position === 0 ? undefined : things[position];
}

export function opAt({ op }: OperationColumns, row: number): OpName {
  return OPS[op[row] ?? 0] ?? 'acquire';
}

export function outcomeAt({ outcome }: OperationColumns, row: number): Outcome {
  return OUTCOMES[outcome[row] ?? 0] ?? 'info';
}

/** Of `completed`, `ttlMillis` or `validUntil`; undefined: there is none. */
export function timeAt(column: Float64Array, row: number): number | undefined {
  const time = column[row] ?? NEVER;
  return time === NEVER ? undefined : time;
}

/** Acquires, renewals and releases. */
export function isOfLock({ op }: OperationColumns, row: number): boolean {
  return (op[row] ?? 0) <= Op.release;
}

/** Processes with the locks that they use: each pair has a number, from 0 on. */
export interface Holders {
  readonly count: number;
  /** By row. */
  readonly of: Int32Array;
  /** undefined: no operation is of both. */
  readonly numberOf: (process: string, lock: string) => number | undefined;
}

const known = new WeakMap<OperationColumns, Holders>();

/** O(n), once for each history. */
export function holdersOf(columns: OperationColumns): Holders {
  const before = known.get(columns);
  if (before !== undefined) return before;
  const { size, process, processes, lock, locks } = columns;
  const of = new Int32Array(size);
  const numbers = new Map<number, number>();
  for (let row = 0; row < size; row++) {
    const pair = (process[row] ?? 0) * locks.length + (lock[row] ?? 0);
    let number = numbers.get(pair);
    if (number === undefined) numbers.set(pair, (number = numbers.size));
    of[row] = number;
  }
  let positions: Record<'processes' | 'locks', ReadonlyMap<string, number>> | undefined;
  const holders: Holders = {
    count: numbers.size,
    of,
    numberOf(name, lockName) {
      positions ??= { processes: positionsOf(processes), locks: positionsOf(locks) };
      const [first, second] = [positions.processes.get(name), positions.locks.get(lockName)];
      return first === undefined || second === undefined
        ? undefined
        : numbers.get(first * locks.length + second);
    },
  };
  known.set(columns, holders);
  return holders;
}

function positionsOf(names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(names.map((name, position) => [name, position]));
}

/** The operation in `row`. */
export function operationAt(columns: OperationColumns, row: number): Operation {
  switch (columns.op[row] ?? 0) {
    case Op.acquire:
      return acquireAt(columns, row);
    case Op.renew:
      return renewAt(columns, row);
    case Op.release:
      return releaseAt(columns, row);
    default:
      return storeOperationAt(columns, row);
  }
}

/** The acquire in `row`, which must be one, as must those below. */
export function acquireAt(columns: OperationColumns, row: number): Acquire {
  const shared = flagAt(columns, row, 'shared');
  const owner = textAt(columns, row, 'owner');
  const token = tokenAt(columns, row);
  return {
    ...baseAt(columns, row),
    op: 'acquire',
    try: flagAt(columns, row, 'try') ?? false,
    ...(shared !== undefined && { shared }),
    ...ttlAt(columns, row),
    ...(owner !== undefined && { owner }),
    ...(token !== undefined && { token }),
    ...validityAt(columns, row),
  };
}

export function renewAt(columns: OperationColumns, row: number): Renew {
  return { ...baseAt(columns, row), op: 'renew', ...ttlAt(columns, row), ...validityAt(columns, row) };
}

export function releaseAt(columns: OperationColumns, row: number): Release {
  const released = flagAt(columns, row, 'released');
  return { ...baseAt(columns, row), op: 'release', ...(released !== undefined && { released }) };
}

/** Reads, writes and exchanges, in order of invocation. */
export function* storeOperations(columns: OperationColumns): Generator<Read | Write> {
  for (let row = 0; row < columns.size; row++)
    if (!isOfLock(columns, row)) yield storeOperationAt(columns, row);
}

function storeOperationAt(columns: OperationColumns, row: number): Read | Write {
  return columns.op[row] === Op.read ? readAt(columns, row) : writeAt(columns, row);
}

function readAt(columns: OperationColumns, row: number): Read {
  const value = textAt(columns, row, 'value');
  const applied = flagAt(columns, row, 'applied');
  const sealed = flagAt(columns, row, 'sealed');
  const audit = thingAt(columns.audit, columns.audits, row);
  return {
    ...storeBaseAt(columns, row),
    op: 'read',
    ...(value !== undefined && { value }),
    ...(applied !== undefined && { applied }),
    ...(sealed !== undefined && { sealed }),
    ...(audit !== undefined && { audit }),
  };
}

function writeAt(columns: OperationColumns, row: number): Write {
  const base = textAt(columns, row, 'base');
  const add = textAt(columns, row, 'add');
  const highest = thingAt(columns.highest, columns.tokens, row);
  return {
    ...storeBaseAt(columns, row),
    op: columns.op[row] === Op.cas ? 'cas' : 'write',
    value: textAt(columns, row, 'value') ?? '',
    ...(base !== undefined && { base }),
    ...(add !== undefined && { add }),
    ...(highest !== undefined && { highest }),
  };
}

function storeBaseAt(columns: OperationColumns, row: number) {
  const token = tokenAt(columns, row);
  const order = textAt(columns, row, 'order');
  const version = textAt(columns, row, 'version');
  return {
    ...baseAt(columns, row),
    store: textAt(columns, row, 'store') ?? '',
    key: textAt(columns, row, 'key') ?? '',
    ...(token !== undefined && { token }),
    ...(order !== undefined && { order }),
    ...(version !== undefined && { version }),
  };
}

function baseAt(columns: OperationColumns, row: number) {
  const completed = timeAt(columns.completed, row);
  const error = textAt(columns, row, 'error');
  return {
    id: columns.id[row] ?? 0,
    process: columns.processes[columns.process[row] ?? 0] ?? '',
    invoked: nanos(columns.invoked[row] ?? 0),
    completed: completed === undefined ? undefined : nanos(completed),
    outcome: outcomeAt(columns, row),
    ...(error !== undefined && { error }),
    lock: columns.locks[columns.lock[row] ?? 0] ?? '',
  };
}

function ttlAt({ ttlMillis }: OperationColumns, row: number): { ttlMillis?: Millis } {
  const ttl = timeAt(ttlMillis, row);
  return ttl === undefined ? {} : { ttlMillis: millis(ttl) };
}

function validityAt({ validUntil }: OperationColumns, row: number): { validUntil?: Nanos } {
  const until = timeAt(validUntil, row);
  return until === undefined ? {} : { validUntil: nanos(until) };
}
