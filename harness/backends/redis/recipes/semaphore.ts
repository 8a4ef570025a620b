// A counting semaphore with leases: owners in a sorted set, counted and added to in one script ("Redis in Action", 6.3,
// without the clients' clocks that the first version there goes by). No order and no token: a token that grows cannot
// tell who of several rightful holders is stale.

import type { RedisRecipe } from '../port.ts';
import { enter, leave, purge } from '../shares.ts';

export const PERMITS = 2;

export const TAKE_PERMIT = `${purge('KEYS[1]')}if redis.call('zcard', KEYS[1]) >= tonumber(ARGV[3]) then
  return 0
end
return redis.call('zadd', KEYS[1], now + ARGV[2], ARGV[1])`;

export const semaphore: RedisRecipe = {
  name: 'semaphore',
  summary: `${PERMITS} permits unless told otherwise: owners in a sorted set by the end of their leases, counted and added to in one script`,
  polls: true,
  ownerChecked: true,
  kind: 'semaphore',
  permits: PERMITS,
  lockClient: (redis, now) => ({
    acquire: (request) =>
      enter(redis, now, { script: TAKE_PERMIT, request, args: [request.permits ?? PERMITS] }),
    release: ({ request }) => leave(redis, request),
    abandon: (request) => leave(redis, request),
  }),
};
