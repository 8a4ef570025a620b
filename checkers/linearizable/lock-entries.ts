// From a history to the entries of each lock. Decides what an operation claims (2.1 and 2.5 of the design): who owns it, what
// an unknown or failed outcome may mean, how long a lease is certain. The models judge what comes out.

import type { Acquire, History, Operation, Release, Renew } from '../../harness/history/history.ts';
import { Kind, NEVER, type LockEntries } from './entries.ts';
import { lockColumns } from './lock-columns.ts';
import { mapValues, partitionsBy } from './partitions.ts';

/** How a release that failed is read: it did nothing, nobody knows, or it took effect all the same. */
export type FailedRelease = 'held' | 'unknown' | 'released';
/** Whether a failed compare-and-set, or a try refused as busy, proves what it found. */
export type FailedCas = 'evidence' | 'ignored';

export interface LockReading {
  /** Who owns a lock: each attempt to acquire it by itself (if the history tells attempts apart), or the process. */
  readonly ownedBy: 'attempt' | 'process';
  readonly failedRelease: FailedRelease;
  readonly failedTry: FailedCas;
}

/** What a lease loses to clocks that run at different speeds, if the history does not say. */
const CLOCK_TOLERANCE_DEFAULT = 0.01;

/** The entries of each lock, in order of their first operation. O(n log n). */
export function lockPartitions(history: History, reading: LockReading): ReadonlyMap<string, LockEntries> {
  const { meta, clockErrorNanos } = history.header;
  const kept = 1 - (meta.clockTolerance ?? CLOCK_TOLERANCE_DEFAULT);
  const ownerChecked = meta.ownerChecked !== false;
  const partitions = partitionsBy(history.operations.filter(isLockOperation), ({ lock }) => lock);
  return mapValues(partitions, (operations) => {
    const columns = lockColumns(operations.length);
    const ownerOf = ownership(reading.ownedBy);
    for (const operation of operations) {
      const kind = kindOf(operation, reading, ownerChecked);
      const owner = ownerOf(operation);
      if (kind === undefined) continue;
      const ttlMillis = operation.op === 'release' ? undefined : (operation.ttlMillis ?? meta.ttlMillis);
      const certain = operation.outcome === 'ok' || (operation.outcome === 'fail' && kind !== Kind.release);
      columns.add({
        kind,
        owner,
        invoked: operation.invoked - clockErrorNanos,
        returned:
          certain && operation.completed !== undefined ? operation.completed + clockErrorNanos : NEVER,
        token: operation.op === 'acquire' ? operation.token : undefined,
        lease: ttlMillis === undefined ? 0 : ttlMillis * 1e6 * kept,
        id: operation.id,
      });
    }
    return columns.finish();
  });
}

function isLockOperation(operation: Operation): operation is Acquire | Renew | Release {
  return operation.op === 'acquire' || operation.op === 'renew' || operation.op === 'release';
}

/** What the operation claims; undefined: nothing. */
function kindOf(
  operation: Acquire | Renew | Release,
  { failedRelease, failedTry }: LockReading,
  ownerChecked: boolean,
): Kind | undefined {
  const { outcome, error } = operation;
  switch (operation.op) {
    case 'acquire': {
      if (outcome !== 'fail') return operation.shared === true ? Kind.acquireShared : Kind.acquire;
      const busy = operation.try && (error === undefined || error === 'busy') && failedTry === 'evidence';
      if (!busy) return undefined;
      return operation.shared === true ? Kind.busyShared : Kind.busy;
    }
    case 'renew':
      if (outcome === 'fail') return error === 'not-owner' ? Kind.disowned : undefined;
      return ownerChecked ? Kind.renew : Kind.renewUnchecked;
    case 'release':
      if (outcome === 'fail') return failedReleaseKind(failedRelease);
      if (outcome === 'ok' && operation.released === false) return Kind.disowned;
      if (outcome === 'ok' && (operation.released === undefined || !ownerChecked))
        return Kind.releaseUnchecked;
      return Kind.release;
  }
}

/** `unknown` is a release that never returned; `released` proves nothing about who owned the lock. */
export function failedReleaseKind(failedRelease: FailedRelease): Kind | undefined {
  if (failedRelease === 'held') return undefined;
  return failedRelease === 'unknown' ? Kind.release : Kind.releaseUnchecked;
}

/** Names the owner of each operation of one lock, given in order of invocation. */
function ownership(ownedBy: 'attempt' | 'process'): (operation: Acquire | Renew | Release) => string {
  if (ownedBy === 'process') return ({ process }) => process;
  /** By process: the owner value of its last attempt that did not fail. What it releases or renews is that one's. */
  const attempts = new Map<string, string>();
  return (operation) => {
    const { process } = operation;
    if (operation.op !== 'acquire') return attempts.get(process) ?? process;
    const owner = operation.owner ?? process;
    if (operation.outcome !== 'fail') attempts.set(process, owner);
    return owner;
  };
}
