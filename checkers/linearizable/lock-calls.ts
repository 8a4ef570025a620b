// From calls of other tests' histories to the entries of each lock. They know neither attempts nor leases; who owns a lock
// is the client that an operation names (`{:client "a" :fence 3}`, as Jepsen's lock tests record it) or its process.

import { isRecord, type Call, type CallHistory, type CallValue } from '../../harness/history/calls.ts';
import { Kind, NEVER, type LockEntries } from './entries.ts';
import { lockColumns } from './lock-columns.ts';
import { failedReleaseKind } from './lock-entries.ts';
import { mapValues, partitionsBy } from './partitions.ts';
import type { LockReading } from './reading.ts';

/** The names under which histories of other tests know the operations of a lock. */
export const LOCK_CALLS: Readonly<Record<string, { readonly kind: Kind; readonly try?: true }>> = {
  acquire: { kind: Kind.acquire },
  lock: { kind: Kind.acquire },
  'try-acquire': { kind: Kind.acquire, try: true },
  'try-lock': { kind: Kind.acquire, try: true },
  'acquire-write': { kind: Kind.acquire },
  'acquire-read': { kind: Kind.acquireShared },
  release: { kind: Kind.release },
  unlock: { kind: Kind.release },
  renew: { kind: Kind.renew },
};

/** The entries of each lock; a lock is a key, or there is one only. An entry's id is the position of its call. */
export function lockPartitionsOfCalls(
  { calls }: CallHistory,
  reading: LockReading,
): ReadonlyMap<string, LockEntries> {
  const judged = [...calls.entries()].filter(([, { name }]) => Object.hasOwn(LOCK_CALLS, name));
  const partitions = partitionsBy(judged, ([, { key }]) => key ?? '');
  return mapValues(partitions, (partition) => {
    const columns = lockColumns();
    for (const [id, call] of partition) {
      const kind = kindOf(call, reading);
      if (kind === undefined) continue;
      const { client, token } = told(call);
      const claims = call.outcome === 'ok' || (call.outcome === 'fail' && kind !== Kind.release);
      columns.add({
        kind,
        owner: columns.ownerNamed(client ?? call.process),
        invoked: call.invoked,
        returned: claims && call.returned !== undefined ? call.returned : NEVER,
        token: call.outcome === 'ok' && kind === Kind.acquire ? token : undefined,
        lease: 0,
        id,
      });
    }
    return columns.finish();
  });
}

function kindOf(call: Call, { failedRelease, failedCas }: LockReading): Kind | undefined {
  const known = LOCK_CALLS[call.name];
  if (known === undefined || call.outcome !== 'fail') return known?.kind;
  if (known.kind === Kind.release) return failedReleaseKind(failedRelease);
  return known.try === true && failedCas === 'evidence' ? Kind.busy : undefined;
}

/** What the operations of a lock may carry; a fence of 0 is none. */
export function told({ argument, result }: Call): { readonly client?: string; readonly token?: bigint } {
  const client = field(result, 'client') ?? field(argument, 'client');
  const fence = field(result, 'fence');
  return {
    ...(client !== undefined && { client }),
    ...(fence !== undefined && /^[1-9]\d*$/.test(fence) && { token: BigInt(fence) }),
  };
}

function field(value: CallValue, name: string): string | undefined {
  const found = isRecord(value) ? value[name] : undefined;
  return typeof found === 'string' ? found : undefined;
}
