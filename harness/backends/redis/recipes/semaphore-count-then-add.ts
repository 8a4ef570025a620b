// Wrong on purpose: counts the owners, and adds itself in a second round trip. Two who count at the same time both find
// the last permit free, and both take it.

import type { RedisRecipe } from '../port.ts';
import { enter, purge, sharesKey } from '../shares.ts';
import { BUSY, unexpected } from '../steps.ts';
import { PERMITS, semaphore } from './semaphore.ts';

export const COUNT = `${purge('KEYS[1]')}return redis.call('zcard', KEYS[1])`;
export const ADD = `${purge('KEYS[1]')}return redis.call('zadd', KEYS[1], now + ARGV[2], ARGV[1])`;

export const semaphoreCountThenAdd: RedisRecipe = {
  ...semaphore,
  name: 'semaphore-count-then-add',
  summary: 'as semaphore, but counted in one command and added to in another',
  flaw: 'two who count at the same time both take the last permit',
  lockClient: (redis, now) => ({
    ...semaphore.lockClient(redis, now),
    acquire: async (request) => {
      const counted = await redis.command('EVAL', COUNT, 1, sharesKey(request.lock));
      if (counted.kind !== 'ok') return counted;
      if (typeof counted.value !== 'number') return unexpected(counted.value);
      if (counted.value >= (request.permits ?? PERMITS)) return BUSY;
      return await enter(redis, now, { script: ADD, request, args: [] });
    },
  }),
};
