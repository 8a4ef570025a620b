// Fills the columns of operations from their invocations and completions, in the order of the file, and puts them in order
// of invocation in the end. Which completion belongs to which invocation is known by then (`history.ts`).

import {
  Came,
  FLAGS,
  NEVER,
  Op,
  opAt,
  type Flag,
  type OperationColumns,
  type TextColumn,
} from './operation-columns.ts';
import { fencingToken, type AuditRow, type Completion, type Invoke } from './op.ts';
import { sortRows } from './sort-rows.ts';

type Columns = { -readonly [K in keyof OperationColumns]: OperationColumns[K] };
type Column =
  Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

export interface OperationWriter {
  /** The row of an operation that was invoked; nothing is known yet of how it ended. */
  invoke(event: Invoke): number;
  /** How the operation in `row` ended. */
  complete(row: number, event: Completion): void;
  /** What was invoked in `row`, as far as a completion has to agree. */
  invokedIn(row: number): Pick<Invoke, 'op' | 'process'> & {
    readonly time: number;
    readonly processNumber: number;
  };
  /** The position of a process among `processes`, whether it invoked anything or not. */
  processNumber(name: string): number;
  finish(): OperationColumns;
}

const ROWS_AT_FIRST = 64;

export function operationWriter(): OperationWriter {
  const processes = numbered();
  const locks = numbered();
  /** Texts that come again and again. */
  const words = new Map<string, number>();
  const texts = [''];
  const tokens = [fencingToken('0')];
  const audits: (readonly AuditRow[])[] = [[]];
  const columns: Columns = {
    size: 0,
    op: new Uint8Array(ROWS_AT_FIRST),
    outcome: new Uint8Array(ROWS_AT_FIRST),
    id: new Float64Array(ROWS_AT_FIRST),
    invoked: new Float64Array(ROWS_AT_FIRST),
    completed: new Float64Array(ROWS_AT_FIRST),
    process: new Int32Array(ROWS_AT_FIRST),
    lock: new Int32Array(ROWS_AT_FIRST),
    flags: new Uint16Array(ROWS_AT_FIRST),
    ttlMillis: new Float64Array(),
    validUntil: new Float64Array(),
    error: new Int32Array(),
    owner: new Int32Array(),
    store: new Int32Array(),
    key: new Int32Array(),
    value: new Int32Array(),
    base: new Int32Array(),
    add: new Int32Array(),
    order: new Int32Array(),
    version: new Int32Array(),
    token: new Int32Array(),
    highest: new Int32Array(),
    audit: new Int32Array(),
    processes: processes.names,
    locks: locks.names,
    texts,
    tokens,
    audits,
  };
  let room = ROWS_AT_FIRST;
  const makeRoom = (): void => {
    room *= 2;
    for (const [name, column] of columnsOf(columns))
      if (column.length > 0) Object.assign(columns, { [name]: larger(column, room) });
  };

  const moment = (name: 'ttlMillis' | 'validUntil', row: number, value: number): void => {
    if (columns[name].length === 0) columns[name] = new Float64Array(room).fill(NEVER);
    columns[name][row] = value;
  };
  const reference = (
    name: TextColumn | 'token' | 'highest' | 'audit',
    row: number,
    position: number,
  ): void => {
    if (columns[name].length === 0) columns[name] = new Int32Array(room);
    columns[name][row] = position;
  };
  const textOf = (text: string): number => texts.push(text) - 1;
  const wordOf = (text: string): number => {
    let position = words.get(text);
    if (position === undefined) words.set(text, (position = textOf(text)));
    return position;
  };
  const flag = (name: Flag, row: number, value: boolean | undefined): void => {
    if (value === undefined) return;
    columns.flags[row] = (columns.flags[row] ?? 0) | ((value ? 2 : 1) << FLAGS[name]);
  };

  return {
    invoke(event) {
      if (columns.size === room) makeRoom();
      const row = columns.size++;
      const op = Op[event.op];
      columns.op[row] = op;
      columns.id[row] = event.id;
      columns.invoked[row] = event.time;
      columns.completed[row] = NEVER;
      columns.process[row] = processes.numberOf(event.process);
      columns.lock[row] = locks.numberOf(event.lock ?? event.key ?? '');
      if (op > Op.release) {
        reference('store', row, wordOf(event.store ?? ''));
        reference('key', row, wordOf(event.key ?? ''));
        if (event.token !== undefined) reference('token', row, tokens.push(event.token) - 1);
        if (event.order !== undefined) reference('order', row, textOf(event.order));
        if (op === Op.read) return row;
        reference('value', row, textOf(event.value ?? ''));
        if (event.base !== undefined) reference('base', row, textOf(event.base));
        if (event.add !== undefined) reference('add', row, wordOf(event.add));
        return row;
      }
      if (op !== Op.release && event.ttlMillis !== undefined) moment('ttlMillis', row, event.ttlMillis);
      if (op === Op.acquire) {
        flag('try', row, event.try);
        flag('shared', row, event.shared);
        if (event.owner !== undefined) reference('owner', row, textOf(event.owner));
      }
      return row;
    },
    complete(row, event) {
      const op = columns.op[row] ?? 0;
      columns.outcome[row] = Came[event.type];
      columns.completed[row] = event.time;
      if (event.error !== undefined) reference('error', row, wordOf(event.error));
      if (op > Op.release) {
        if (event.version !== undefined) reference('version', row, textOf(event.version));
        if (op !== Op.read) {
          if (event.highest !== undefined) reference('highest', row, tokens.push(event.highest) - 1);
          return;
        }
        if (event.value !== undefined) reference('value', row, textOf(event.value));
        flag('applied', row, event.applied);
        flag('sealed', row, event.sealed);
        if (event.audit !== undefined) reference('audit', row, audits.push(event.audit) - 1);
      } else if (op === Op.release) flag('released', row, event.released);
      else if (op === Op.renew || event.type === 'ok') {
        // What an acquire was promised counts only if it was granted.
        if (event.validUntil !== undefined) moment('validUntil', row, event.validUntil);
        if (op === Op.acquire && event.token !== undefined)
          reference('token', row, tokens.push(event.token) - 1);
      }
    },
    invokedIn(row) {
      const process = columns.process[row] ?? 0;
      return {
        op: opAt(columns, row),
        process: processes.names[process] ?? '',
        time: columns.invoked[row] ?? 0,
        processNumber: process,
      };
    },
    processNumber: (name) => processes.numberOf(name),
    finish() {
      const { size, invoked, id } = columns;
      const order = sortRows(sortRows(rowsUpTo(size), id), invoked);
      const isInOrder = order.every((row, position) => row === position);
      for (const [name, column] of columnsOf(columns))
        if (column.length > 0)
          Object.assign(columns, { [name]: isInOrder ? column.subarray(0, size) : permuted(column, order) });
      return columns;
    },
  };
}

function columnsOf(columns: Columns): [string, Column][] {
  return Object.entries(columns).filter((entry): entry is [string, Column] => ArrayBuffer.isView(entry[1]));
}

function rowsUpTo(size: number): Int32Array {
  const rows = new Int32Array(size);
  for (let row = 0; row < size; row++) rows[row] = row;
  return rows;
}

/** The same, with room for `length` rows. What it took before is free at once, not when garbage is collected. */
function larger(column: Column, length: number): Column {
  const filled = column.length;
  const buffer = column.buffer.transfer(length * column.BYTES_PER_ELEMENT);
  if (column instanceof Float64Array) return new Float64Array(buffer).fill(NEVER, filled);
  if (column instanceof Int32Array) return new Int32Array(buffer);
  return column instanceof Uint16Array ? new Uint16Array(buffer) : new Uint8Array(buffer);
}

function permuted(column: Column, order: Int32Array): Column {
  const copy = madeLike(column, order.length);
  for (let position = 0; position < order.length; position++)
    copy[position] = column[order[position] ?? 0] ?? 0;
  return copy;
}

function madeLike(column: Column, length: number): Column {
  if (column instanceof Float64Array) return new Float64Array(length);
  if (column instanceof Int32Array) return new Int32Array(length);
  return column instanceof Uint16Array ? new Uint16Array(length) : new Uint8Array(length);
}

interface Numbered {
  readonly names: string[];
  numberOf(name: string): number;
}

/** Names by their position in order of first appearance. */
function numbered(): Numbered {
  const names: string[] = [];
  const numbers = new Map<string, number>();
  return {
    names,
    numberOf(name) {
      let number = numbers.get(name);
      if (number === undefined) {
        number = names.push(name) - 1;
        numbers.set(name, number);
      }
      return number;
    },
  };
}
