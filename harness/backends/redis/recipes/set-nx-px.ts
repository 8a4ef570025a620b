// The lock of the Redis documentation ("Distributed locks with Redis", the single-instance algorithm): a unique value
// under a key that expires, removed only by whoever put it there. No renewal and no token.

import type { RedisRecipe } from '../port.ts';
import { deleteIfOwner, setIfAbsent } from '../steps.ts';

export const setNxPx: RedisRecipe = {
  name: 'set-nx-px',
  summary: 'SET key owner NX PX ttl; released by compare-and-delete in Lua',
  polls: true,
  ownerChecked: true,
  lockClient: (redis, now) => ({
    acquire: (request) => setIfAbsent(redis, now, request),
    release: ({ request }) => deleteIfOwner(redis, request),
    abandon: (request) => deleteIfOwner(redis, request),
  }),
};
