// From a history to the entries of each lock. Decides what an operation claims (2.1 and 2.5 of the design): what an unknown
// or failed outcome may mean, and how long a lease is certain; `attempts.ts` knows whose operation it is. The models judge
// what comes out.

import { DEFAULT_CLOCK_TOLERANCE, grantsOf } from '../../harness/history/grants.ts';
import type { Acquire, History, Operation, Release, Renew } from '../../harness/history/history.ts';
import { attribution } from './attempts.ts';
import { Kind, NEVER, type LockEntries } from './entries.ts';
import { lockColumns, type LockColumns } from './lock-columns.ts';
import { mapValues } from './partitions.ts';
import type { FailedRelease, LockReading } from './reading.ts';

/** The entries of each lock, in order of its first operation. O(n log n). */
export function lockPartitions(history: History, reading: LockReading): ReadonlyMap<string, LockEntries> {
  const { meta, clockErrorNanos } = history.header;
  const certainPart = 1 - (meta.clockTolerance ?? DEFAULT_CLOCK_TOLERANCE);
  const ownerChecked = meta.ownerChecked !== false;
  const locks = new Map<string, LockBeingRead>();
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
  for (const operation of history.operations) {
    if (!isLockOperation(operation)) continue;
    expireUntil(operation.invoked - clockErrorNanos);
    const { columns, attributed } = locks.get(operation.lock) ?? begun(locks, operation.lock, reading);
    const { owner, mayBeOf, ttlMillis = 0 } = attributed(operation);
    const kind = kindOf(operation, reading, ownerChecked);
    if (kind === undefined) continue;
    const { id, completed, outcome } = operation;
    const claims = outcome === 'ok' || (outcome === 'fail' && kind !== Kind.release);
    const invoked = operation.invoked - clockErrorNanos;
    const returned = claims && completed !== undefined ? completed + clockErrorNanos : NEVER;
    const token = operation.op === 'acquire' ? operation.token : undefined;
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

function begun(locks: Map<string, LockBeingRead>, name: string, { ownedBy }: LockReading): LockBeingRead {
  const columns = lockColumns();
  const lock = { columns, attributed: attribution(ownedBy, columns.ownerNamed) };
  locks.set(name, lock);
  return lock;
}

function isLockOperation(operation: Operation): operation is Acquire | Renew | Release {
  return operation.op === 'acquire' || operation.op === 'renew' || operation.op === 'release';
}

/** What the operation claims; undefined: nothing. */
function kindOf(
  operation: Acquire | Renew | Release,
  { failedRelease, failedCas }: LockReading,
  ownerChecked: boolean,
): Kind | undefined {
  const { outcome, error } = operation;
  switch (operation.op) {
    case 'acquire': {
      if (outcome !== 'fail') return operation.shared === true ? Kind.acquireShared : Kind.acquire;
      const refused = operation.try && (error === undefined || error === 'busy');
      if (!refused || failedCas === 'ignored') return undefined;
      return operation.shared === true ? Kind.busyShared : Kind.busy;
    }
    case 'renew':
      if (outcome === 'fail') return error === 'not-owner' ? Kind.disowned : undefined;
      return ownerChecked ? Kind.renew : Kind.renewUnchecked;
    case 'release':
      if (outcome === 'fail') return failedReleaseKind(failedRelease);
      if (outcome === 'ok' && operation.released === false) return Kind.disowned;
      return outcome === 'info' || (operation.released === true && ownerChecked)
        ? Kind.release
        : Kind.releaseUnchecked;
  }
}

/** `unknown` is a release that never returned; `released` proves nothing about who owned the lock. */
export function failedReleaseKind(failedRelease: FailedRelease): Kind | undefined {
  if (failedRelease === 'held') return undefined;
  return failedRelease === 'unknown' ? Kind.release : Kind.releaseUnchecked;
}
