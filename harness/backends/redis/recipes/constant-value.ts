// Wrong on purpose: every client writes the same value, so the comparison before the delete compares nothing. Found
// where an example's "my_random_value" was taken literally, or a boolean was enough.

import type { AcquireRequest } from '../../../contract/lock-client.ts';
import type { RedisRecipe } from '../port.ts';
import { deleteIfOwner, setIfAbsent } from '../steps.ts';

export const constantValue: RedisRecipe = {
  name: 'constant-value',
  summary: 'SET key "locked" NX PX ttl; released by compare-and-delete of that value',
  polls: true,
  ownerChecked: false,
  flaw: 'every client has the same value, so the release removes whoever holds the lock by now',
  lockClient: (redis, now) => {
    const remove = async (request: AcquireRequest) => {
      const removed = await deleteIfOwner(redis, inTheNameOfAll(request));
      // That something was removed does not say whose it was.
      return removed.kind === 'ok' && removed.value.released ? ({ kind: 'ok', value: {} } as const) : removed;
    };
    return {
      acquire: async (request) => {
        const taken = await setIfAbsent(redis, now, inTheNameOfAll(request));
        return taken.kind === 'ok' ? { kind: 'ok', value: { ...taken.value, request } } : taken;
      },
      release: ({ request }) => remove(request),
      abandon: (request) => remove(request),
    };
  },
};

function inTheNameOfAll(request: AcquireRequest): AcquireRequest {
  return { ...request, owner: 'locked' };
}
