// `set-nx-px` that also hands out a fencing token (Kleppmann 2016): the script that grants the lock counts up a second
// key, which never expires. One script, because a client that stalls between two commands could take a token that is
// older than the one of the next holder.

import type { AcquireRequest, Grant, Outcome } from '../../../contract/lock-client.ts';
import { fencingToken, type Nanos } from '../../../history/op.ts';
import type { RedisPort, RedisRecipe } from '../port.ts';
import { BUSY, deleteIfOwner, leaseEnd, lockKey, unexpected, wholeMillis } from '../steps.ts';

export const GRANT_WITH_TOKEN = `if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return redis.call('incr', KEYS[2])
end
return false`;

export const fencedIncr: RedisRecipe = {
  name: 'fenced-incr',
  summary: 'set-nx-px with a token from INCR in the same script as the grant',
  tokenSource: 'INCR of a key per lock that never expires, in the granting script',
  polls: true,
  ownerChecked: true,
  lockClient: (redis, now) => ({
    acquire: (request) => grantWithToken(redis, now, { script: GRANT_WITH_TOKEN, request }),
    release: ({ request }) => deleteIfOwner(redis, request),
    abandon: (request) => deleteIfOwner(redis, request),
  }),
};

/** Runs a script that takes lock key, token key, `keys`, owner and TTL, and answers with the token, or nil for `busy`. */
export async function grantWithToken(
  redis: RedisPort,
  now: () => Nanos,
  {
    script,
    request,
    keys = [],
  }: { readonly script: string; readonly request: AcquireRequest; readonly keys?: readonly string[] },
): Promise<Outcome<Grant>> {
  const validUntil = leaseEnd(now, request.ttlMillis);
  const reply = await redis.command(
    'EVAL',
    script,
    2 + keys.length,
    lockKey(request.lock),
    `token:${request.lock}`,
    ...keys,
    request.owner,
    wholeMillis(request.ttlMillis),
  );
  if (reply.kind !== 'ok') return reply;
  if (reply.value === null) return BUSY;
  if (typeof reply.value !== 'number') return unexpected(reply.value);
  return { kind: 'ok', value: { request, token: fencingToken(String(reply.value)), validUntil } };
}
