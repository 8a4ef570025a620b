// Our operations as a Jepsen history, one map a line, for Knossos and elle-cli; `history/edn.ts` reads it back. Jepsen pairs
// by process, and a process whose outcome is unknown never comes again, so processes get numbers as Jepsen would give
// them. Owner and token of a lock's operation stand in its value, as `{:client "c3-17" :fence 118}`; what is nobody's for
// certain is written as unknown once for each owner it may be of.

import { attribution } from '../../checkers/linearizable/attempts.ts';
import { interner } from '../../checkers/linearizable/entries.ts';
import type { Acquire, Operation, Release, Renew } from '../history/history.ts';
import { createLanes } from './lanes.ts';

interface Line {
  readonly time: number;
  readonly order: number;
  readonly words: (process: number) => string;
  /** Of whose number, and whether it is free after this. */
  readonly call: Call;
  readonly isCompletion: boolean;
}

interface Call {
  readonly owner: string;
  process: number;
}

/** Of operations in order of invocation. At equal stamps calls come before returns, so that they stay concurrent. O(n log n). */
export function* ednLines(operations: readonly Operation[]): Generator<string> {
  const lines: Line[] = [];
  const owners = interner<string>();
  const attributions = new Map<string, ReturnType<typeof attribution>>();
  for (const operation of operations) {
    if ('store' in operation) {
      addLines(lines, operation, storeCall(operation));
      continue;
    }
    const attributed = attributions.get(operation.lock) ?? attribution('attempt', owners);
    attributions.set(operation.lock, attributed);
    const { owner, mayBeOf } = attributed(operation);
    if (owner !== undefined) addLines(lines, operation, lockCall(operation, owners.things[owner] ?? ''));
    for (const other of mayBeOf)
      addLines(
        lines,
        { ...operation, outcome: 'info', completed: undefined },
        lockCall(operation, owners.things[other] ?? ''),
      );
  }
  lines.sort(
    (a, b) => a.time - b.time || Number(a.isCompletion) - Number(b.isCompletion) || a.order - b.order,
  );
  const lanes = createLanes();
  for (const [index, { words, call, isCompletion }] of lines.entries()) {
    if (!isCompletion) call.process = lanes.take(call.owner);
    const line = words(call.process);
    yield `{:index ${index}, ${line}}\n`;
    if (isCompletion && !line.includes(':type :info')) lanes.free(call.owner, call.process);
  }
}

/** What is called, and with what it is called and returns, as EDN. */
interface Told {
  readonly name: string;
  readonly key: string;
  readonly argument: string;
  readonly result: string;
  readonly type: Operation['outcome'];
}

function addLines(lines: Line[], operation: Operation, { name, key, argument, result, type }: Told): void {
  const { id, process: owner, invoked, completed, error } = operation;
  const call = { owner, process: -1 };
  const words =
    (moment: string, time: number, value: string, more = ''): ((process: number) => string) =>
    (process) =>
      `:type :${moment}, :process ${process}, :f :${name}, :value ${value}, :key ${text(key)}, :time ${time}, :id ${id}, :name ${text(owner)}${more}`;
  lines.push({
    time: invoked,
    order: lines.length,
    words: words('invoke', invoked, argument),
    call,
    isCompletion: false,
  });
  if (completed === undefined) return;
  lines.push({
    time: completed,
    order: lines.length,
    words: words(type, completed, result, error === undefined ? '' : `, :error ${text(error)}`),
    call,
    isCompletion: true,
  });
}

function lockCall(operation: Acquire | Renew | Release, owner: string): Told {
  const { op, lock: key, outcome } = operation;
  const argument = `{:client ${text(owner)}}`;
  if (op !== 'acquire') {
    // "Not yours any more": as a release it did not happen.
    const type = op === 'release' && operation.released === false ? 'fail' : outcome;
    return { name: op, key, argument, result: argument, type };
  }
  const { token, shared } = operation;
  const result = token === undefined ? argument : `{:client ${text(owner)}, :fence ${token}}`;
  return { name: shared === true ? 'acquire-read' : 'acquire', key, argument, result, type: outcome };
}

function storeCall(operation: Exclude<Operation, Acquire | Renew | Release>): Told {
  const { op, store, outcome: type } = operation;
  const key = store === '' ? operation.key : `${store}/${operation.key}`;
  if (op === 'read') {
    const result = type === 'ok' && operation.value !== undefined ? scalar(operation.value) : 'nil';
    return { name: op, key, argument: 'nil', result, type };
  }
  const value = scalar(operation.value);
  const argument = op === 'cas' ? `[${scalar(operation.base ?? 'nil')} ${value}]` : value;
  return { name: op, key, argument, result: argument, type };
}

/** Whole numbers are written as such: that is what registers hold elsewhere. */
function scalar(value: string): string {
  return /^(?:0|-?[1-9]\d{0,14})$/.test(value) ? value : text(value);
}

/** JSON's escapes are EDN's, but for those of control characters, which EDN takes as they are. */
function text(value: string): string {
  return `"${value.replaceAll(/[\\"]/g, String.raw`\$&`)}"`;
}
