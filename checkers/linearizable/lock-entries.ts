// From a history to the entries of each lock. Decides what an operation claims (2.1 and 2.5 of the design): what an unknown
// or failed outcome may mean, and how long a lease is certain; `attempts.ts` knows whose operation it is. The models judge
// what comes out.

import { DEFAULT_CLOCK_TOLERANCE } from '../../harness/history/grant-ends.ts';
import { grantsOf } from '../../harness/history/grants.ts';
import type { History } from '../../harness/history/history.ts';
import {
  Came,
  flagAt,
  isOfLock,
  Op,
  opAt,
  outcomeAt,
  textAt,
  timeAt,
  tokenAt,
  type OperationColumns,
} from '../../harness/history/operation-columns.ts';
import { attribution, type Attributable } from './attempts.ts';
import { Kind, NEVER, type LockEntries } from './entries.ts';
import { lockColumns, type LockColumns } from './lock-columns.ts';
import { mapValues } from './partitions.ts';
import type { FailedRelease, LockReading } from './reading.ts';

/** The entries of each lock, in order of its first operation. O(n log n). */
export function lockPartitions(history: History, reading: LockReading): ReadonlyMap<string, LockEntries> {
  const { header, columns: operations } = history;
  const { meta, clockErrorNanos } = header;
  const certainPart = 1 - (meta.clockTolerance ?? DEFAULT_CLOCK_TOLERANCE);
  const how = { ...reading, ownerChecked: meta.ownerChecked !== false };
  const locks = new Map<string, LockBeingRead>();
  const byNumber: LockBeingRead[] = [];
  const expiries = reading.leases === 'may-end' ? expiriesOf(history) : [];
  let expired = 0;
  /** A lease that has run out by then may have released its lock, at any time from there on, or never. */
  const expireUntil = (time: number): void => {
    for (let expiry = expiries[expired]; expiry !== undefined; expiry = expiries[++expired]) {
      const { process, lock, id, invoked } = expiry;
      if (invoked > time) return;
      const columns = locks.get(lock)?.columns;
      const owner = columns?.ownerNamed(process) ?? 0;
      columns?.add({ kind: Kind.release, owner, invoked, returned: NEVER, token: undefined, lease: 0, id });
    }
  };
  for (let row = 0; row < operations.size; row++) {
    if (!isOfLock(operations, row)) continue;
    const invoked = (operations.invoked[row] ?? 0) - clockErrorNanos;
    expireUntil(invoked);
    const number = operations.lock[row] ?? 0;
    let lock = byNumber[number];
    if (lock === undefined) {
      lock = begun(reading);
      byNumber[number] = lock;
      locks.set(operations.locks[number] ?? '', lock);
    }
    const { columns, attributed } = lock;
    const { owner, mayBeOf, ttlMillis = 0 } = attributed(attributableAt(operations, row));
    const kind = kindOf(operations, row, how);
    if (kind === undefined) continue;
    const id = operations.id[row] ?? 0;
    const outcome = operations.outcome[row] ?? 0;
    const claims = outcome === Came.ok || (outcome === Came.fail && kind !== Kind.release);
    const returned = claims ? (operations.completed[row] ?? 0) + clockErrorNanos : NEVER;
    const token = tokenAt(operations, row);
    const lease = Math.floor(ttlMillis * 1e6 * certainPart);
    if (owner !== undefined) columns.add({ kind, owner, invoked, returned, token, lease, id });
    // What it did to whom nobody knows: it may have ended or prolonged any of these.
    for (const other of mayBeOf)
      columns.add({ kind, owner: other, invoked, returned: NEVER, token, lease, id });
  }
  expireUntil(Infinity);
  return mapValues(locks, ({ columns }) => columns.finish());
}

interface Expiry {
  readonly process: string;
  readonly lock: string;
  /** Of the acquire that was granted the lease. */
  readonly id: number;
  readonly invoked: number;
}

/** When each lease may have run out that was not certainly released before, ascending. O(n log n). */
function expiriesOf(history: History): Expiry[] {
  return grantsOf(history)
    .flatMap(({ process, lock, acquire: { id }, leaseEnd, release }) => {
      const releasedBy = release?.outcome === 'ok' ? release.completed : undefined;
      return leaseEnd === undefined || (releasedBy ?? Infinity) < leaseEnd
        ? []
        : [{ process, lock, id, invoked: leaseEnd - history.header.clockErrorNanos }];
    })
    .sort((a, b) => a.invoked - b.invoked);
}

interface LockBeingRead {
  readonly columns: LockColumns;
  readonly attributed: ReturnType<typeof attribution>;
}

function begun({ ownedBy }: LockReading): LockBeingRead {
  const columns = lockColumns();
  return { columns, attributed: attribution(ownedBy, columns.ownerNamed) };
}

function attributableAt(columns: OperationColumns, row: number): Attributable {
  return {
    op: opAt(columns, row),
    process: columns.processes[columns.process[row] ?? 0] ?? '',
    invoked: columns.invoked[row] ?? 0,
    completed: timeAt(columns.completed, row),
    outcome: outcomeAt(columns, row),
    owner: textAt(columns, row, 'owner'),
    ttlMillis: timeAt(columns.ttlMillis, row),
  };
}

/** What the operation claims; undefined: nothing. */
function kindOf(
  columns: OperationColumns,
  row: number,
  { failedRelease, failedCas, ownerChecked }: LockReading & { readonly ownerChecked: boolean },
): Kind | undefined {
  const outcome = columns.outcome[row];
  switch (columns.op[row] ?? 0) {
    case Op.acquire: {
      const shares = flagAt(columns, row, 'shared') === true;
      if (outcome !== Came.fail) return shares ? Kind.acquireShared : Kind.acquire;
      const error = textAt(columns, row, 'error');
      const refused = flagAt(columns, row, 'try') === true && (error === undefined || error === 'busy');
      if (!refused || failedCas === 'ignored') return undefined;
      return shares ? Kind.busyShared : Kind.busy;
    }
    case Op.renew:
      if (outcome === Came.fail)
        return textAt(columns, row, 'error') === 'not-owner' ? Kind.disowned : undefined;
      return ownerChecked ? Kind.renew : Kind.renewUnchecked;
    default: {
      if (outcome === Came.fail) return failedReleaseKind(failedRelease);
      const released = flagAt(columns, row, 'released');
      if (outcome === Came.ok && released === false) return Kind.disowned;
      return outcome === Came.info || (released === true && ownerChecked)
        ? Kind.release
        : Kind.releaseUnchecked;
    }
  }
}

/** `unknown` is a release that never returned; `released` proves nothing about who owned the lock. */
export function failedReleaseKind(failedRelease: FailedRelease): Kind | undefined {
  if (failedRelease === 'held') return undefined;
  return failedRelease === 'unknown' ? Kind.release : Kind.releaseUnchecked;
}
