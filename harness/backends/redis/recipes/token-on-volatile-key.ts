// Wrong on purpose: the counter of the fencing tokens expires like the lock, so that nothing is left behind. After a
// pause in which nobody acquires, counting starts at one again, below the tokens that the store has seen.

import type { RedisRecipe } from '../port.ts';
import { deleteIfOwner } from '../steps.ts';
import { grantWithToken } from './fenced-incr.ts';

export const GRANT_WITH_VOLATILE_TOKEN = `if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  local token = redis.call('incr', KEYS[2])
  redis.call('pexpire', KEYS[2], ARGV[2])
  return token
end
return false`;

export const tokenOnVolatileKey: RedisRecipe = {
  name: 'token-on-volatile-key',
  summary: 'fenced-incr whose token key expires one TTL after the last grant',
  tokenSource: 'INCR of a key per lock that expires, in the granting script',
  polls: true,
  ownerChecked: true,
  flaw: 'the tokens start again when nobody has acquired for one TTL',
  lockClient: (redis, now) => ({
    acquire: (request) => grantWithToken(redis, now, { script: GRANT_WITH_VOLATILE_TOKEN, request }),
    release: ({ request }) => deleteIfOwner(redis, request),
    abandon: (request) => deleteIfOwner(redis, request),
  }),
};
