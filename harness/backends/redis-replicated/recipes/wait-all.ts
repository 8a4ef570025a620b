// `set-nx-px` confirmed by every replica: no grant is unknown to whichever of them is promoted, and no grant at all is
// made while one of them is away.

import { confirmedClient } from '../confirmed.ts';
import type { ReplicatedRecipe } from '../port.ts';

export const waitAll: ReplicatedRecipe = {
  name: 'wait-all',
  summary: 'set-nx-px, then WAIT for every replica; not confirmed in time: deleted, and failed',
  polls: true,
  ownerChecked: true,
  lockClient: (primary, now, { replicas, waitMillis }) =>
    confirmedClient(primary, now, { confirmations: replicas, waitMillis }),
};
