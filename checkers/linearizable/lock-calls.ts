// From calls of other tests' histories to the entries of each lock. They know neither attempts nor leases.

import type { Call, CallHistory, CallValue } from '../../harness/history/calls.ts';
import { Kind, NEVER, type LockEntries } from './entries.ts';
import { lockColumns } from './lock-columns.ts';
import { failedReleaseKind, type LockReading } from './lock-entries.ts';
import { mapValues, partitionsBy } from './partitions.ts';

/** The entries of each lock; a lock is a key, or there is one only. An entry's id is the position of its call. */
export function lockPartitionsOfCalls(
  { calls }: CallHistory,
  reading: LockReading,
): ReadonlyMap<string, LockEntries> {
  const partitions = partitionsBy(calls.entries(), ([, { key }]) => key ?? '');
  return mapValues(partitions, (partition) => {
    const columns = lockColumns(partition.length);
    for (const [id, call] of partition) {
      const kind = kindOfCall(call, reading);
      if (kind === undefined) continue;
      const { client, token } = told(call);
      const certain = call.outcome === 'ok' || (call.outcome === 'fail' && kind !== Kind.release);
      columns.add({
        kind,
        owner: client ?? call.process,
        invoked: call.invoked,
        returned: certain && call.returned !== undefined ? call.returned : NEVER,
        token: call.outcome === 'ok' && kind === Kind.acquire ? token : undefined,
        lease: 0,
        id,
      });
    }
    return columns.finish();
  });
}

/** The names under which histories of other tests know the operations of a lock. */
const LOCK_CALLS: Readonly<Record<string, { readonly kind: Kind; readonly try?: true }>> = {
  acquire: { kind: Kind.acquire },
  lock: { kind: Kind.acquire },
  'try-acquire': { kind: Kind.acquire, try: true },
  'try-lock': { kind: Kind.acquire, try: true },
  'acquire-write': { kind: Kind.acquire },
  'acquire-read': { kind: Kind.acquireShared },
  release: { kind: Kind.release },
  unlock: { kind: Kind.release },
};

export function isLockCall(name: string): boolean {
  return Object.hasOwn(LOCK_CALLS, name);
}

function kindOfCall(call: Call, { failedRelease, failedTry }: LockReading): Kind | undefined {
  const known = LOCK_CALLS[call.name];
  if (known === undefined || call.outcome !== 'fail') return known?.kind;
  if (known.kind === Kind.release) return failedReleaseKind(failedRelease);
  return known.try === true && failedTry === 'evidence' ? Kind.busy : undefined;
}

/** What the operations of a lock may carry as `{:client "a" :fence 3}`; a fence of 0 is none. */
function told({ argument, result }: Call): { readonly client?: string; readonly token?: bigint } {
  const client = field(result, 'client') ?? field(argument, 'client');
  const fence = field(result, 'fence');
  return {
    ...(client !== undefined && { client }),
    ...(fence !== undefined && /^[1-9]\d*$/.test(fence) && { token: BigInt(fence) }),
  };
}

function field(value: CallValue, name: string): string | undefined {
  if (value === null || typeof value === 'string' || isList(value)) return undefined;
  const found = value[name];
  return typeof found === 'string' ? found : undefined;
}

function isList(value: CallValue): value is readonly CallValue[] {
  return Array.isArray(value);
}
