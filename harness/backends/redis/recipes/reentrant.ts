// A lock that its holder may take again, as Redisson's RLock has it: a hash with the owner and how often it came in. It is
// free when it was released as often, and one TTL after the last time it was taken. The token is that of the first time.

import type { AcquireRequest, LockClient, Outcome } from '../../../contract/lock-client.ts';
import type { Nanos } from '../../../history/op.ts';
import type { RedisPort, RedisRecipe } from '../port.ts';
import { lockKey, readReleaseReply } from '../steps.ts';
import { grantWithToken } from './fenced-incr.ts';

export const COME_IN = `local owner = redis.call('hget', KEYS[1], 'owner')
if owner and owner ~= ARGV[1] then
  return false
end
if not owner then
  redis.call('hset', KEYS[1], 'owner', ARGV[1], 'token', redis.call('incr', KEYS[2]))
end
redis.call('hincrby', KEYS[1], 'count', 1)
redis.call('pexpire', KEYS[1], ARGV[2])
return tonumber(redis.call('hget', KEYS[1], 'token'))`;

const UNLESS_OWNER = `if redis.call('hget', KEYS[1], 'owner') ~= ARGV[1] then
  return 0
end
`;

export const GO_OUT = `${UNLESS_OWNER}if redis.call('hincrby', KEYS[1], 'count', -1) < 1 then
  redis.call('del', KEYS[1])
end
return 1`;

export const DROP = `${UNLESS_OWNER}return redis.call('del', KEYS[1])`;

export const reentrant: RedisRecipe = {
  name: 'reentrant',
  summary: 'a hash with the owner and a count, which its owner may raise; free when it was released as often',
  tokenSource: 'INCR of a key per lock that never expires, in the script that grants a free lock',
  polls: true,
  ownerChecked: true,
  kind: 'reentrant',
  lockClient: (redis, now) => reentrantClient(redis, now, GO_OUT),
};

/** `goOut`: the script of a release. */
export function reentrantClient(
  redis: RedisPort,
  now: () => Nanos,
  goOut: string,
): Omit<LockClient, keyof AsyncDisposable> {
  return {
    acquire: (request) => grantWithToken(redis, now, { script: COME_IN, request }),
    release: ({ request }) => ask(redis, goOut, request),
    abandon: (request) => ask(redis, DROP, request),
  };
}

async function ask(
  redis: RedisPort,
  script: string,
  { lock, owner }: AcquireRequest,
): Promise<Outcome<{ readonly released: boolean }>> {
  return readReleaseReply(await redis.command('EVAL', script, 1, lockKey(lock), owner));
}
