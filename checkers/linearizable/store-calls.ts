// From calls of other tests' histories to the entries of each key: registers, key-value stores, and transactions over
// several registers, which are one partition together.

import { isList, type Call, type CallHistory, type CallValue } from '../../harness/history/calls.ts';
import { HistoryError } from '../../harness/history/history.ts';
import { Kind, NEVER, type StoreEntries } from './entries.ts';
import { mapValues, partitionsBy } from './partitions.ts';
import type { FailedCas, StoreReading } from './reading.ts';
import { storeColumns, type NamedAccess } from './store-columns.ts';

/** The names under which they are known. */
export const STORE_CALLS: Readonly<Record<string, Kind>> = {
  read: Kind.read,
  get: Kind.read,
  write: Kind.write,
  put: Kind.write,
  cas: Kind.cas,
  append: Kind.append,
  txn: Kind.transaction,
};

/** An entry's id is the position of its call. Throws `HistoryError` on an operand of the wrong form. O(n log n). */
export function storePartitionsOfCalls(
  { calls }: CallHistory,
  { initial, failedCas }: Pick<StoreReading, 'initial' | 'failedCas'>,
): ReadonlyMap<string, StoreEntries> {
  const judged = [...calls.entries()].filter(([, { name }]) => Object.hasOwn(STORE_CALLS, name));
  const partitions = partitionsBy(judged, ([, { key }]) => key ?? '');
  return mapValues(partitions, (partition) => {
    const columns = storeColumns(partition.length, initial);
    for (const [id, call] of partition) {
      const kind = kindOf(call, failedCas);
      if (kind === undefined) continue;
      const certain = call.outcome !== 'info' && call.returned !== undefined;
      const span = { invoked: call.invoked, returned: certain ? (call.returned ?? 0) : NEVER };
      columns.add({ kind, id, ...span, ...operandsOf(kind, call) });
    }
    return columns.finish();
  });
}

/** undefined: it claims nothing. What failed did not happen, and only a compare-and-set says what it found. */
function kindOf({ name, outcome }: Call, failedCas: FailedCas): Kind | undefined {
  const kind = STORE_CALLS[name];
  if (outcome !== 'fail' || kind === undefined) return kind;
  return kind === Kind.cas && failedCas === 'evidence' ? Kind.casFailed : undefined;
}

interface Operands {
  readonly value?: string | undefined;
  readonly expected?: string | undefined;
  readonly transaction?: readonly NamedAccess[];
}

function operandsOf(kind: Kind, call: Call): Operands {
  const { argument, result, outcome } = call;
  if (kind === Kind.read) return { value: outcome === 'ok' ? scalar(result, call) : undefined };
  if (kind === Kind.cas || kind === Kind.casFailed) {
    const [expected, value] = isList(argument) ? argument : [];
    return { expected: required(expected, call), value: required(value, call) };
  }
  // What was read stands in the result; what was asked is known before.
  if (kind === Kind.transaction)
    return { transaction: accessesOf(outcome === 'ok' && result !== null ? result : argument, call) };
  return { value: required(argument, call) };
}

/** Of `[[:read :x 1] [:write :y 2]]`, in short also `:r` and `:w`. */
function accessesOf(steps: CallValue, call: Call): NamedAccess[] {
  if (!isList(steps)) return refuse(call);
  return steps.map((step) => {
    const [verb = null, register = null, value = null] = isList(step) ? step : [];
    const write = verb === 'write' || verb === 'w';
    if (typeof register !== 'string' || (!write && verb !== 'read' && verb !== 'r')) return refuse(call);
    return { write, register, value: write ? required(value, call) : scalar(value, call) };
  });
}

/** A text; undefined: nothing was told. */
function scalar(value: CallValue, call: Call): string | undefined {
  if (value === null) return undefined;
  return typeof value === 'string' ? value : refuse(call);
}

function required(value: CallValue | undefined, call: Call): string {
  return typeof value === 'string' ? value : refuse(call);
}

function refuse({ name, process, argument, result, line }: Call): never {
  const shown = JSON.stringify(result ?? argument).slice(0, 60);
  throw new HistoryError(line, `the operand of ${name} by process ${process} is not understood: ${shown}`);
}
