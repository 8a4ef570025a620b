// Wrong on purpose: the release deletes the key, whoever holds it by now. Found in the wild wherever `SETNX` was copied
// without the compare-and-delete. An unknown acquire is still taken back properly, so that the flaw stays where it is.

import type { RedisRecipe } from '../port.ts';
import { deleteIfOwner, lockKey, setIfAbsent } from '../steps.ts';

export const delUnconditional: RedisRecipe = {
  name: 'del-unconditional',
  summary: 'SET key owner NX PX ttl; released by a plain DEL',
  polls: true,
  ownerChecked: false,
  flaw: 'the release removes the lock even if another client holds it by now',
  lockClient: (redis, now) => ({
    acquire: (request) => setIfAbsent(redis, now, request),
    release: async ({ request }) => {
      const reply = await redis.command('DEL', lockKey(request.lock));
      // DEL does not say whose lock it removed.
      return reply.kind === 'ok' ? { kind: 'ok', value: {} } : reply;
    },
    abandon: (request) => deleteIfOwner(redis, request),
  }),
};
