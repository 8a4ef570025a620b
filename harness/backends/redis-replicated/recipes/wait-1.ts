// `set-nx-px` confirmed by one replica.

import { confirmedClient } from '../confirmed.ts';
import type { ReplicatedRecipe } from '../port.ts';

export const wait1: ReplicatedRecipe = {
  name: 'wait-1',
  summary: 'set-nx-px, then WAIT for one replica; not confirmed in time: deleted, and failed',
  polls: true,
  ownerChecked: true,
  lockClient: (primary, now, { waitMillis }) =>
    confirmedClient(primary, now, { confirmations: 1, waitMillis }),
};
