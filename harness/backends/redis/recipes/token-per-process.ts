// Wrong on purpose: the fencing token is counted by each client for itself, so it says nothing about the order of grants
// to different clients.

import { fencingToken } from '../../../history/op.ts';
import type { RedisRecipe } from '../port.ts';
import { deleteIfOwner, setIfAbsent } from '../steps.ts';

export const tokenPerProcess: RedisRecipe = {
  name: 'token-per-process',
  summary: 'set-nx-px with a token that each client counts for itself',
  tokenSource: 'a counter in the memory of the client',
  polls: true,
  ownerChecked: true,
  flaw: 'tokens of different clients are not in the order of their grants',
  lockClient: (redis, now) => {
    let grants = 0;
    return {
      acquire: async (request) => {
        const taken = await setIfAbsent(redis, now, request);
        if (taken.kind !== 'ok') return taken;
        grants += 1;
        return { kind: 'ok', value: { ...taken.value, token: fencingToken(String(grants)) } };
      },
      release: ({ request }) => deleteIfOwner(redis, request),
      abandon: (request) => deleteIfOwner(redis, request),
    };
  },
};
