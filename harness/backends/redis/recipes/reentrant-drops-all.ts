// Wrong on purpose: does not count. The first release frees the lock, however often its holder came in.

import type { RedisRecipe } from '../port.ts';
import { DROP, reentrant, reentrantClient } from './reentrant.ts';

export const reentrantDropsAll: RedisRecipe = {
  ...reentrant,
  name: 'reentrant-drops-all',
  summary: 'as reentrant, but a release does not count',
  flaw: 'the inner release frees the lock, and its holder goes on',
  lockClient: (redis, now) => reentrantClient(redis, now, DROP),
};
