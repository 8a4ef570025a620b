// A read-write lock as one queue of leased keys, readers and writers in the order in which the cluster created them, as in
// the read-write mutex among the recipes of etcd's client library (etcd 3.5, client/v3/experimental/recipes/rwmutex.go).
// A writer waits for whoever is before it, a reader for the writers only, so neither side can keep the other waiting for
// ever. The fencing token is the place's create revision.

import type { EtcdRecipe } from '../port.ts';
import { queueOf, RENEW_AT, type Queueing } from '../queue.ts';
import { leaseQueueClient } from './lease-queue.ts';

const writers = (lock: string): string => `${queueOf(lock)}write/`;
const readers = (lock: string): string => `${queueOf(lock)}read/`;

const readersTogether: Queueing = {
  keyOf: ({ lock, owner, shared }) => `${shared === true ? readers(lock) : writers(lock)}${owner}`,
  aheadOf: ({ lock, shared }) => ({ prefix: shared === true ? writers(lock) : queueOf(lock), fewer: 1 }),
};

export const readWrite: EtcdRecipe = {
  name: 'read-write',
  summary: 'leased keys of readers and writers in one queue; a reader waits for the writers before it only',
  tokenSource: 'create revision of the key',
  polls: false,
  renewAt: RENEW_AT,
  ownerChecked: true,
  kind: 'read-write',
  lockClient: (etcd, clock, onLost) => leaseQueueClient(etcd, clock, { onLost, queueing: readersTogether }),
};
