// Wrong on purpose: renews with a plain SET, which takes the lock if it is gone and takes it away if it is another's.

import type { RedisRecipe } from '../port.ts';
import { deleteIfOwner, leaseEnd, lockKey, setIfAbsent, unexpected, wholeMillis } from '../steps.ts';

export const renewAsUpsert: RedisRecipe = {
  name: 'renew-as-upsert',
  summary: 'watchdog that renews by SET key owner PX ttl',
  polls: true,
  renewAt: 1 / 3,
  ownerChecked: false,
  flaw: 'the renewal overwrites whoever holds the lock by now',
  lockClient: (redis, now) => ({
    acquire: (request) => setIfAbsent(redis, now, request),
    renew: async ({ request }) => {
      const validUntil = leaseEnd(now, request.ttlMillis);
      const { lock, owner, ttlMillis } = request;
      const reply = await redis.command('SET', lockKey(lock), owner, 'PX', wholeMillis(ttlMillis));
      if (reply.kind !== 'ok') return reply;
      return reply.value === 'OK' ? { kind: 'ok', value: { validUntil } } : unexpected(reply.value);
    },
    release: ({ request }) => deleteIfOwner(redis, request),
    abandon: (request) => deleteIfOwner(redis, request),
  }),
};
