// Wrong on purpose: never looks at the clock after the votes are in. A client that was stopped, or servers that were
// slow, while it voted leave it with a lock whose keys have run out everywhere.

import type { RedlockRecipe } from '../port.ts';
import { majorityOf, votingClient } from '../voting.ts';

export const redlockNoValidityCheck: RedlockRecipe = {
  name: 'redlock-no-validity-check',
  summary: 'redlock that takes a majority for a grant however long the voting took',
  polls: true,
  ownerChecked: true,
  flaw: 'a grant may have run out before it is answered',
  lockClient: (nodes, now) => votingClient(nodes, now, { quorum: majorityOf(nodes), checksValidity: false }),
};
