// `lease-queue` that protects what lives in etcd itself: every protected write checks, in one transaction, that the
// writer's place is still the one it was granted with. A late holder's write is refused by the lock service, and no
// store needs to know about tokens. The stores outside of etcd are used as before, to compare.

import type { FencingToken } from '../../../history/op.ts';
import { guardedRegister } from '../guarded-register.ts';
import type { EtcdRecipe } from '../port.ts';
import { oneByOne, placeKey } from '../queue.ts';
import { leaseQueue, leaseQueueClient } from './lease-queue.ts';

export const leaseTxnGuard: EtcdRecipe = {
  ...leaseQueue,
  name: 'lease-txn-guard',
  summary: 'lease-queue, and a register in etcd whose writes check the place in the same transaction',
  register: {
    name: 'lock-transaction',
    summary:
      'lives in the lock service; a write is one transaction with the check that its lock is still held',
    needsToken: true,
    // Who reads it holds the lock, and the place of everybody before is gone by then.
    judgedAs: 'fence-on-read-and-write',
  },
  lockClient: (etcd, clock, onLost) => {
    const places = new Map<FencingToken, string>();
    const queue = leaseQueueClient(etcd, clock, { onLost, queueing: oneByOne });
    return {
      ...queue,
      async acquire(request) {
        const outcome = await queue.acquire(request);
        if (outcome.kind === 'ok' && outcome.value.token !== undefined)
          places.set(outcome.value.token, placeKey(request));
        return outcome;
      },
      register: guardedRegister(etcd, clock, (token) => places.get(token)),
    };
  },
};
