// A semaphore as a queue of leased keys: whoever has fewer of them before its own than there are permits has one. That is
// the queue of `lease-queue` with more than one at its head. No token: one that grows cannot tell who of several rightful
// holders is stale.

import { withoutToken } from '../../without-token.ts';
import type { EtcdRecipe } from '../port.ts';
import { placeKey, queueOf, RENEW_AT, type Queueing } from '../queue.ts';
import { leaseQueueClient } from './lease-queue.ts';

const PERMITS = 2;

const amongTheFirst: Queueing = {
  keyOf: placeKey,
  aheadOf: ({ lock, permits = PERMITS }) => ({ prefix: queueOf(lock), fewer: permits }),
};

export const semaphore: EtcdRecipe = {
  name: 'semaphore',
  summary: `${PERMITS} permits unless told otherwise: a key with a lease, with fewer than that created before it`,
  polls: false,
  renewAt: RENEW_AT,
  ownerChecked: true,
  kind: 'semaphore',
  permits: PERMITS,
  lockClient: (etcd, clock, onLost) =>
    withoutToken(leaseQueueClient(etcd, clock, { onLost, queueing: amongTheFirst })),
};
