// A grant that counts only when replicas have it: `SET … NX PX`, then `WAIT` (page of the WAIT command, Redis 8.0). Both
// leave on one connection, since WAIT speaks of the writes of its own connection: sent on another one it would confirm
// what was never written. Not confirmed: the key is taken back and the attempt has failed. WAIT does not make Redis
// consistent: a replica that has not confirmed may be promoted all the same.

import type { AcquireRequest, Grant, LockClient, Outcome } from '../../contract/lock-client.ts';
import type { Millis, Nanos } from '../../history/op.ts';
import { outcomeOf } from '../redis/errors.ts';
import type { RedisPort } from '../redis/port.ts';
import { deleteIfOwner, readSetReply, setCommand, leaseEnd } from '../redis/steps.ts';
import { NOT_REPLICATED } from './errors.ts';

export function confirmedClient(
  primary: RedisPort,
  now: () => Nanos,
  { confirmations, waitMillis }: { readonly confirmations: number; readonly waitMillis: Millis },
): Omit<LockClient, keyof AsyncDisposable> {
  const acquire = async (request: AcquireRequest): Promise<Outcome<Grant>> => {
    const validUntil = leaseEnd(now, request.ttlMillis);
    const [set, wait] = await primary.sequence(setCommand(request), ['WAIT', confirmations, waitMillis]);
    if (set === undefined || wait === undefined) throw new Error('a sequence of two has two outcomes');
    const taken = readSetReply(set, { request, validUntil });
    if (taken.kind !== 'ok') return taken;
    if (wait.kind === 'ok' && typeof wait.value === 'number' && wait.value >= confirmations) return taken;
    const removed = await deleteIfOwner(primary, request);
    // While it may still be there it keeps others out, so the attempt is not known to have come to nothing.
    return removed.kind === 'ok' ? outcomeOf(NOT_REPLICATED) : { kind: 'info', error: removed.error };
  };
  return {
    acquire,
    release: ({ request }) => deleteIfOwner(primary, request),
    abandon: (request) => deleteIfOwner(primary, request),
  };
}
