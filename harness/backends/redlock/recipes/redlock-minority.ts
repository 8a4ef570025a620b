// Wrong on purpose: two votes of five are enough, so two clients can both have enough.

import type { RedlockRecipe } from '../port.ts';
import { majorityOf, votingClient } from '../voting.ts';

export const redlockMinority: RedlockRecipe = {
  name: 'redlock-minority',
  summary: 'redlock that needs one vote less than a majority',
  polls: true,
  ownerChecked: true,
  flaw: 'two clients can be granted the lock by different servers',
  lockClient: (nodes, now) =>
    votingClient(nodes, now, { quorum: majorityOf(nodes) - 1, checksValidity: true }),
};
