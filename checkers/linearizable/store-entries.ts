// From a history to the entries of each key of each store: what a read, a write or a compare-and-set claims. The models
// judge what comes out.

import type { History, Read, Write } from '../../harness/history/history.ts';
import { storeOperations } from '../../harness/history/operation-columns.ts';
import { defenceOf } from '../store-fencing.ts';
import { Kind, NEVER, type StoreEntries } from './entries.ts';
import { mapValues, partitionsBy } from './partitions.ts';
import type { StoreReading } from './reading.ts';
import { storeColumns } from './store-columns.ts';

/** A refusal of a token that is too low. */
const STALE = 'stale-token';
/** How the names of the defences that check tokens begin: a model of such a store says nothing of the others. */
const FENCES = 'fence-on-';
/** The defence under which reads show their token too, and raise the mark. */
const FENCES_READS = 'fence-on-read-and-write';

/** The entries of each `store/key` without relative writes, in order of its first operation. O(n log n). */
export function storePartitions(history: History, reading: StoreReading): ReadonlyMap<string, StoreEntries> {
  const { meta, clockErrorNanos } = history.header;
  const nameOf = names();
  const partitions = partitionsBy(judgedOperations(history, reading), nameOf);
  for (const name of keysAddedTo(history, reading)) partitions.delete(name);
  return mapValues(partitions, (partition) => {
    const columns = storeColumns(partition.length, reading.initial);
    const fencesReads = defenceOf(partition[0]?.store ?? '', meta) === FENCES_READS;
    for (const operation of partition) {
      const kind = kindOf(operation, reading);
      if (kind === undefined) continue;
      const { completed } = operation;
      const showsToken = reading.fenced && (operation.op !== 'read' || fencesReads);
      const claims = operation.outcome !== 'info' && completed !== undefined;
      columns.add({
        kind,
        invoked: operation.invoked - clockErrorNanos,
        returned: claims ? completed + clockErrorNanos : NEVER,
        id: operation.id,
        value: operation.value,
        expected: operation.op === 'cas' ? operation.base : undefined,
        token: showsToken ? operation.token : undefined,
      });
    }
    return columns.finish();
  });
}

/** Each `store/key` with relative writes: what they leave their client does not know, and the models only replace. O(n). */
export function keysAddedTo(history: History, reading: StoreReading): readonly string[] {
  const relative = judgedOperations(history, reading).filter(
    (operation) => operation.op !== 'read' && operation.add !== undefined,
  );
  return [...new Set(relative.map(names()))];
}

/** Those of every store, or of the stores that check tokens. */
function judgedOperations({ header, columns }: History, reading: StoreReading): (Read | Write)[] {
  const all = [...storeOperations(columns)];
  if (!reading.fenced) return all;
  const stores = [...new Set(all.map(({ store }) => store))];
  const fenced = new Set(stores.filter((store) => defenceOf(store, header.meta).startsWith(FENCES)));
  return all.filter(({ store }) => fenced.has(store));
}

/** The `store/key` of operations, each put together once: to build and hash a text for every operation takes long. */
function names(): (operation: Read | Write) => string {
  const known = new Map<string, Map<string, string>>();
  return ({ store, key }) => {
    let ofStore = known.get(store);
    if (ofStore === undefined) known.set(store, (ofStore = new Map()));
    let name = ofStore.get(key);
    if (name === undefined) ofStore.set(key, (name = store === '' ? key : `${store}/${key}`));
    return name;
  };
}

/** undefined: it claims nothing. */
function kindOf({ op, outcome, error, token }: Read | Write, reading: StoreReading): Kind | undefined {
  const { failedCas, fenced } = reading;
  if (outcome === 'fail') {
    if (fenced && error === STALE && token !== undefined) return Kind.stale;
    const proves = op === 'cas' && failedCas === 'evidence' && (error === undefined || error === 'mismatch');
    return proves && !fenced ? Kind.casFailed : undefined;
  }
  if (op === 'read') return Kind.read;
  return op === 'cas' && !fenced ? Kind.cas : Kind.write;
}
