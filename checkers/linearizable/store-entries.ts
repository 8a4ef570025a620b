// From a history to the entries of each key of each store: what a read, a write or a compare-and-set claims. The models
// judge what comes out.

import type { History, Read, Write } from '../../harness/history/history.ts';
import { Kind, NEVER, type StoreEntries } from './entries.ts';
import type { FailedCas } from './lock-entries.ts';
import { mapValues, partitionsBy } from './partitions.ts';
import { storeColumns } from './store-columns.ts';

export interface StoreReading {
  /** What a key holds at first. */
  readonly initial: string;
  readonly failedCas: FailedCas;
  /** The store checks fencing tokens: tokens are kept, and a compare-and-set is a write that was accepted. */
  readonly fenced: boolean;
}

/** A refusal of a token that is too low. */
const STALE = 'stale-token';
/** The defence under which reads show their token too, and raise the mark. */
const FENCES_READS = 'fence-on-read-and-write';

/** The entries of each `store/key`, in order of its first operation. O(n log n). */
export function storePartitions(history: History, reading: StoreReading): ReadonlyMap<string, StoreEntries> {
  const { meta, clockErrorNanos } = history.header;
  const operations = history.operations.filter((operation) => 'store' in operation);
  const partitions = partitionsBy(operations, ({ store, key }) => `${store}/${key}`);
  return mapValues(partitions, (partition) => {
    const columns = storeColumns(partition.length, reading.initial);
    for (const operation of partition) {
      const kind = kindOf(operation, reading);
      if (kind === undefined) continue;
      const { store } = operation;
      const fencesThis = operation.op !== 'read' || (meta.stores?.[store] ?? store) === FENCES_READS;
      const certain = operation.outcome !== 'info' && operation.completed !== undefined;
      columns.add({
        kind,
        invoked: operation.invoked - clockErrorNanos,
        returned: certain ? (operation.completed ?? 0) + clockErrorNanos : NEVER,
        id: operation.id,
        value: operation.value,
        expected: operation.op === 'cas' ? operation.base : undefined,
        token: reading.fenced && fencesThis ? operation.token : undefined,
      });
    }
    return columns.finish();
  });
}

/** undefined: it claims nothing. */
function kindOf(operation: Read | Write, { failedCas, fenced }: StoreReading): Kind | undefined {
  const { op, outcome, error } = operation;
  if (outcome === 'fail') {
    if (fenced && error === STALE && operation.token !== undefined) return Kind.stale;
    return op === 'cas' &&
      failedCas === 'evidence' &&
      !fenced &&
      (error === undefined || error === 'mismatch')
      ? Kind.casFailed
      : undefined;
  }
  if (op === 'read') return Kind.read;
  return op === 'cas' && !fenced ? Kind.cas : Kind.write;
}
