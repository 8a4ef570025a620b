// Wrong on purpose: when a renewal finds the lock gone, it takes it again and says nothing. What the client has read
// under the lock may be out of date by then, for others may have held it in between.

import type { RedisRecipe } from '../port.ts';
import { deleteIfOwner, extendIfOwner, NOT_OWNER, setIfAbsent } from '../steps.ts';

export const reacquireInsteadOfLost: RedisRecipe = {
  name: 'reacquire-instead-of-lost',
  summary: 'watchdog that acquires again when a renewal finds that it is not the owner any more',
  polls: true,
  renewAt: 1 / 3,
  ownerChecked: false,
  flaw: 'the client is not told that the lock was lost in between',
  lockClient: (redis, now) => ({
    acquire: (request) => setIfAbsent(redis, now, request),
    renew: async ({ request }) => {
      const extended = await extendIfOwner(redis, now, request);
      if (extended.kind !== 'fail' || extended.error !== NOT_OWNER.error) return extended;
      const taken = await setIfAbsent(redis, now, request);
      if (taken.kind !== 'ok') return taken;
      const { validUntil } = taken.value;
      return { kind: 'ok', value: validUntil === undefined ? {} : { validUntil } };
    },
    release: ({ request }) => deleteIfOwner(redis, request),
    abandon: (request) => deleteIfOwner(redis, request),
  }),
};
