// A read-write lock with leases: the writer's key as in `set-nx-px`, the readers in a sorted set, and a script for each
// side that looks at both. Each grant has a token from the same script. Readers who keep coming keep a writer waiting.

import type { LockClient } from '../../../contract/lock-client.ts';
import type { Nanos } from '../../../history/op.ts';
import type { RedisPort, RedisRecipe } from '../port.ts';
import { leave, purge, sharesKey } from '../shares.ts';
import { deleteIfOwner } from '../steps.ts';
import { grantWithToken } from './fenced-incr.ts';

export const WRITE = `${purge('KEYS[3]')}if redis.call('zcard', KEYS[3]) > 0 then
  return false
end
if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return redis.call('incr', KEYS[2])
end
return false`;

/** Joins the readers, whoever else there is. */
export const JOIN = `${purge('KEYS[3]')}redis.call('zadd', KEYS[3], now + ARGV[2], ARGV[1])
return redis.call('incr', KEYS[2])`;

export const READ = `if redis.call('exists', KEYS[1]) == 1 then
  return false
end
${JOIN}`;

export const readWrite: RedisRecipe = {
  name: 'read-write',
  summary: 'a key for the writer, a sorted set for readers, and a script for each side that looks at both',
  tokenSource: 'INCR of a key per lock that never expires, in the granting script',
  polls: true,
  ownerChecked: true,
  kind: 'read-write',
  lockClient: (redis, now) => readWriteClient(redis, now, READ),
};

/** `read`: the script that lets a reader in. */
export function readWriteClient(
  redis: RedisPort,
  now: () => Nanos,
  read: string,
): Omit<LockClient, keyof AsyncDisposable> {
  const release: LockClient['abandon'] = (request) =>
    request.shared === true ? leave(redis, request) : deleteIfOwner(redis, request);
  return {
    acquire: (request) => {
      const script = request.shared === true ? read : WRITE;
      return grantWithToken(redis, now, { script, request, keys: [sharesKey(request.lock)] });
    },
    release: ({ request }) => release(request),
    abandon: release,
  };
}
