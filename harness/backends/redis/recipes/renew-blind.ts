// Wrong on purpose: renews with PEXPIRE, which extends the key of whoever holds the lock. A holder that was away for
// too long goes on believing, and keeps the next one's lock alive after that one has died.

import type { RedisRecipe } from '../port.ts';
import {
  deleteIfOwner,
  leaseEnd,
  lockKey,
  NOT_OWNER,
  setIfAbsent,
  unexpected,
  wholeMillis,
} from '../steps.ts';

export const renewBlind: RedisRecipe = {
  name: 'renew-blind',
  summary: 'watchdog that renews by PEXPIRE, whoever the owner is',
  polls: true,
  renewAt: 1 / 3,
  ownerChecked: false,
  flaw: 'the renewal extends the lock of whoever holds it by now, and says nothing',
  lockClient: (redis, now) => ({
    acquire: (request) => setIfAbsent(redis, now, request),
    renew: async ({ request }) => {
      const validUntil = leaseEnd(now, request.ttlMillis);
      const reply = await redis.command('PEXPIRE', lockKey(request.lock), wholeMillis(request.ttlMillis));
      if (reply.kind !== 'ok') return reply;
      if (reply.value === 1) return { kind: 'ok', value: { validUntil } };
      return reply.value === 0 ? NOT_OWNER : unexpected(reply.value);
    },
    release: ({ request }) => deleteIfOwner(redis, request),
    abandon: (request) => deleteIfOwner(redis, request),
  }),
};
