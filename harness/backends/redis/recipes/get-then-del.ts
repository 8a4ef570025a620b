// Wrong on purpose: the release looks whether it still owns the lock, then deletes it, in two round trips. Between the
// two the lease can end and another client be granted the lock, which is then deleted.

import type { RedisRecipe } from '../port.ts';
import { deleteIfOwner, lockKey, setIfAbsent } from '../steps.ts';

export const getThenDel: RedisRecipe = {
  name: 'get-then-del',
  summary: 'SET key owner NX PX ttl; released by GET, a comparison in the client, and DEL',
  polls: true,
  ownerChecked: false,
  flaw: 'between GET and DEL the lock can pass to another client, which then loses it',
  lockClient: (redis, now) => ({
    acquire: (request) => setIfAbsent(redis, now, request),
    release: async ({ request }) => {
      const owner = await redis.command('GET', lockKey(request.lock));
      if (owner.kind !== 'ok') return owner;
      if (owner.value !== request.owner) return { kind: 'ok', value: { released: false } };
      const reply = await redis.command('DEL', lockKey(request.lock));
      // DEL does not say whose lock it removed.
      return reply.kind === 'ok' ? { kind: 'ok', value: {} } : reply;
    },
    abandon: (request) => deleteIfOwner(redis, request),
  }),
};
