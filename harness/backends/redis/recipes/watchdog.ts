// `set-nx-px` with a lease that its holder renews for as long as it lives, as Redisson's watchdog does: work may take
// longer than the TTL, and a holder that dies still frees the lock within one TTL. No token.

import type { RedisRecipe } from '../port.ts';
import { deleteIfOwner, extendIfOwner, setIfAbsent } from '../steps.ts';

export const watchdog: RedisRecipe = {
  name: 'watchdog',
  summary: 'set-nx-px, renewed by compare-and-pexpire at a third of the TTL while the client lives',
  polls: true,
  renewAt: 1 / 3,
  ownerChecked: true,
  lockClient: (redis, now) => ({
    acquire: (request) => setIfAbsent(redis, now, request),
    renew: ({ request }) => extendIfOwner(redis, now, request),
    release: ({ request }) => deleteIfOwner(redis, request),
    abandon: (request) => deleteIfOwner(redis, request),
  }),
};
