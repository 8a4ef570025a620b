// A whole history judged by one model, lock by lock and key by key: if each is linearizable, so is the whole (Herlihy & Wing
// 1990). A violation anywhere decides, whatever became of the rest. Chooses the model if nobody did. Pure; knows no file.

import type { CallHistory } from '../../harness/history/calls.ts';
import { HistoryError, type History } from '../../harness/history/history.ts';
import { permitsOf } from '../../harness/history/kinds.ts';
import { isOfLock, Op } from '../../harness/history/operation-columns.ts';
import type { Recorded } from '../../harness/history/recorded.ts';
import {
  MODEL_NAMES,
  ModelError,
  modelNamed,
  type CataloguedModel,
  type LockModel,
  type StoreModel,
} from './catalogue.ts';
import { decidePartition, type PartitionVerdict } from './decide.ts';
import { Kind, kindsIn, type Entries, type LockEntries, type StoreEntries } from './entries.ts';
import type { SearchLimits } from './explore.ts';
import { LOCK_CALLS, lockPartitionsOfCalls, told } from './lock-calls.ts';
import { lockPartitions } from './lock-entries.ts';
import type { Model } from './model.ts';
import type { Decision } from './polynomial/decision.ts';
import type { FailedCas, FailedRelease } from './reading.ts';
import { SEARCH_LIMITS } from './search.ts';
import { STORE_CALLS, storePartitionsOfCalls } from './store-calls.ts';
import { keysAddedTo, storePartitions } from './store-entries.ts';

export interface ModelOptions {
  /** As `modelNamed` takes it. Default: what the operations of the history ask for. */
  readonly model?: string;
  /** What a register or key holds at first. Default: '' for `kv`, `stock` or '0' for our own histories, else 'nil'. */
  readonly initial?: string;
  /** Default 'unknown'. */
  readonly failedRelease?: FailedRelease;
  /** Default 'ignored'. */
  readonly failedCas?: FailedCas;
  /** Of the search, for each lock or key. Default 10⁸. */
  readonly steps?: number;
}

/** Everything that decided how the history was judged. */
export interface Reading {
  readonly model: string;
  readonly initial: string;
  readonly failedRelease: FailedRelease;
  readonly failedCas: FailedCas;
  readonly steps: number;
}

type AnyEntries = LockEntries | StoreEntries;
type Judging = Pick<Model<never>, 'name' | 'judges' | 'skips'>;

export interface JudgedPartition {
  /** The lock, or the key; '' if the history names none. */
  readonly name: string;
  readonly entries: AnyEntries;
  readonly found: PartitionVerdict;
}

export interface ModelResult {
  /** `unknown` also if there was nothing to judge, or something was not. */
  readonly verdict: 'valid' | 'invalid' | 'unknown';
  readonly reading: Reading;
  readonly catalogued: CataloguedModel;
  readonly partitions: readonly JudgedPartition[];
  /** The keys that the model does not judge, because what was written there is relative. */
  readonly unjudged: readonly string[];
}

/**
 * Throws `ModelError` if the model does not exist or cannot be chosen, `HistoryError` if an operation is none that it
 * knows. Exponential in the worst case, but never more than `steps` for a lock or key.
 */
export function checkModel(recorded: Recorded, options: ModelOptions = {}): ModelResult {
  const name = options.model ?? modelFor(recorded);
  const catalogued = modelNamed(name);
  const { failedRelease = 'unknown', failedCas = 'ignored', steps = SEARCH_LIMITS.stepsMax } = options;
  const initial = options.initial ?? initialOf(name, recorded);
  const reading = { model: name, initial, failedRelease, failedCas, steps };
  const limits = { ...SEARCH_LIMITS, stepsMax: steps };
  const partitions =
    catalogued.of === 'lock'
      ? judgeEach(lockEntriesOf(recorded, catalogued, reading), catalogued, limits)
      : judgeEach(storeEntriesOf(recorded, catalogued, reading), catalogued, limits);
  const unjudged = unjudgedOf(recorded, catalogued, reading);
  const verdict = overall([
    ...partitions.map(({ found }) => found.verdict),
    ...unjudged.map(() => 'unknown' as const),
  ]);
  return { verdict, reading, catalogued, partitions, unjudged };
}

function lockEntriesOf(
  recorded: Recorded,
  { ownedBy, leases }: LockModel,
  { model, failedRelease, failedCas }: Reading,
): ReadonlyMap<string, LockEntries> {
  const how = { ownedBy, leases, failedRelease, failedCas };
  return 'calls' in recorded
    ? lockPartitionsOfCalls(onlyKnown(recorded.calls, model), how)
    : lockPartitions(recorded.history, how);
}

function storeEntriesOf(
  recorded: Recorded,
  { fenced }: StoreModel,
  { model, initial, failedCas }: Reading,
): ReadonlyMap<string, StoreEntries> {
  const how = { initial, failedCas, fenced };
  return 'calls' in recorded
    ? storePartitionsOfCalls(onlyKnown(recorded.calls, model), how)
    : storePartitions(recorded.history, how);
}

function unjudgedOf(recorded: Recorded, catalogued: CataloguedModel, reading: Reading): readonly string[] {
  if (catalogued.of === 'lock' || 'calls' in recorded) return [];
  return keysAddedTo(recorded.history, { ...reading, fenced: catalogued.fenced });
}

function judgeEach<E extends AnyEntries>(
  partitions: ReadonlyMap<string, E>,
  { model, decide }: { readonly model: Model<E>; readonly decide?: (entries: E) => Decision<E> },
  limits: SearchLimits,
): JudgedPartition[] {
  return [...partitions].map(([name, entries]) => {
    refuseUnknownKinds(entries, model);
    return { name, entries, found: decidePartition(entries, model, limits, decide) };
  });
}

function refuseUnknownKinds({ size, kind, id }: Entries, { name, judges, skips }: Judging): void {
  const understood = kindsIn([...judges, ...skips]);
  for (let entry = 0; entry < size; entry++)
    if (understood[kind[entry] ?? 0] !== 1) {
      const what = Object.entries(Kind).find(([, number]) => number === kind[entry])?.[0];
      throw new ModelError(`the model ${name} does not know what operation ${id[entry]} claims (${what})`);
    }
}

/** Throws `HistoryError` on a call that no model knows. Those of a store say nothing to a lock, nor the other way round. */
function onlyKnown(history: CallHistory, model: string): CallHistory {
  for (const { name, line } of history.calls)
    if (!Object.hasOwn(LOCK_CALLS, name) && !Object.hasOwn(STORE_CALLS, name))
      throw new HistoryError(
        line,
        `"${name}" is no operation that the model ${model} judges; known are ${[...Object.keys(LOCK_CALLS), ...Object.keys(STORE_CALLS)].join(', ')}`,
      );
  return history;
}

/** A violation is never masked by an unknown, and what has nothing for the model to judge is not valid (I7). */
function overall(verdicts: readonly ModelResult['verdict'][]): ModelResult['verdict'] {
  if (verdicts.includes('invalid')) return 'invalid';
  return verdicts.includes('unknown') || verdicts.length === 0 ? 'unknown' : 'valid';
}

/** The weakest model of what the operations are, so that nothing is reported that nobody promised. */
function modelFor(recorded: Recorded): string {
  if ('history' in recorded)
    return recorded.history.columns.op.some((_, row) => isOfLock(recorded.history.columns, row))
      ? modelOfKind(recorded.history)
      : 'cas-register';
  const { calls } = recorded.calls;
  const names = [...new Set(calls.map(({ name }) => name))];
  if (names.every((name) => Object.hasOwn(LOCK_CALLS, name))) {
    if (names.includes('acquire-read')) return 'read-write-lock';
    if (calls.some((call) => told(call).token !== undefined)) return 'fenced-mutex';
    return calls.some((call) => told(call).client !== undefined) ? 'owned-mutex' : 'mutex';
  }
  if (names.every((name) => Object.hasOwn(STORE_CALLS, name))) {
    if (names.includes('txn')) return 'multi-register';
    return names.some((name) => name === 'get' || name === 'put' || name === 'append')
      ? 'kv'
      : 'cas-register';
  }
  throw new ModelError(`which model judges ${names.join(', ')}? Name one of ${MODEL_NAMES.join(', ')}`);
}

function modelOfKind({ header: { meta }, columns: { op, token } }: History): string {
  const tokens = token.some((position, row) => position !== 0 && op[row] === Op.acquire);
  const models = {
    mutex: 'lease-mutex',
    semaphore: `semaphore:${permitsOf(meta)}`,
    'read-write': 'read-write-lock',
    reentrant: tokens ? 'reentrant-fenced-mutex' : 'reentrant-mutex',
  };
  return models[meta.kind ?? 'mutex'];
}

function initialOf(model: string, recorded: Recorded): string {
  if (model === 'kv') return '';
  return 'history' in recorded ? (recorded.history.header.meta.stock ?? '0') : 'nil';
}
