// Redlock as published: a majority of five, with the check that time is left. Neither renewal nor token.

import type { RedlockRecipe } from '../port.ts';
import { majorityOf, votingClient } from '../voting.ts';

export const redlock: RedlockRecipe = {
  name: 'redlock',
  summary: 'SET key owner NX PX ttl on all servers at once; a majority, and time left, make a grant',
  polls: true,
  ownerChecked: true,
  lockClient: (nodes, now) => votingClient(nodes, now, { quorum: majorityOf(nodes), checksValidity: true }),
};
