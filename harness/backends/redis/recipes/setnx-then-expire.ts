// Wrong on purpose: takes the lock and gives it an expiry in two commands. A client that dies between them, or whose
// second command is lost, leaves a lock that never expires.

import type { RedisRecipe } from '../port.ts';
import { BUSY, deleteIfOwner, leaseEnd, lockKey, unexpected, wholeMillis } from '../steps.ts';

export const setnxThenExpire: RedisRecipe = {
  name: 'setnx-then-expire',
  summary: 'SETNX key owner, then PEXPIRE key ttl; released by compare-and-delete in Lua',
  polls: true,
  ownerChecked: true,
  flaw: 'a client that dies between SETNX and PEXPIRE leaves the lock taken for ever',
  lockClient: (redis, now) => ({
    acquire: async (request) => {
      const taken = await redis.command('SETNX', lockKey(request.lock), request.owner);
      if (taken.kind !== 'ok') return taken;
      if (taken.value === 0) return BUSY;
      if (taken.value !== 1) return unexpected(taken.value);
      const validUntil = leaseEnd(now, request.ttlMillis);
      const expiry = await redis.command('PEXPIRE', lockKey(request.lock), wholeMillis(request.ttlMillis));
      // The lock is taken by now, so even a definite failure of the second command leaves the attempt undecided.
      if (expiry.kind !== 'ok') return { kind: 'info', error: expiry.error };
      return { kind: 'ok', value: { request, validUntil } };
    },
    release: ({ request }) => deleteIfOwner(redis, request),
    abandon: (request) => deleteIfOwner(redis, request),
  }),
};
