// The lock of etcd's documentation ("Lock" in the concurrency API, etcd 3.5): a place in a queue, kept by a lease, that
// waits for the place before it. The fencing token is the place's create revision. The holder renews, and counts the
// end of its lease itself, because what etcd answers, or does not, may come too late.

import type { Clock } from '../../../clock.ts';
import type { AcquireRequest, LockClient, RecipeContext } from '../../../contract/lock-client.ts';
import { watchDeadline, type Deadline } from '../../deadline.ts';
import type { EtcdPort, EtcdRecipe } from '../port.ts';
import {
  giveBack,
  keepPlace,
  leasePlace,
  oneByOne,
  RENEW_AT,
  waitForTurn,
  type Place,
  type Queueing,
} from '../queue.ts';

export const leaseQueue: EtcdRecipe = {
  name: 'lease-queue',
  summary: 'a key with a lease, first come first served; waits for the key created before its own',
  tokenSource: 'create revision of the key',
  polls: false,
  fifo: true,
  renewAt: RENEW_AT,
  ownerChecked: true,
  lockClient: (etcd, clock, onLost) => leaseQueueClient(etcd, clock, { onLost, queueing: oneByOne }),
};

export function leaseQueueClient(
  etcd: EtcdPort,
  clock: Clock,
  { onLost, queueing }: { readonly onLost: RecipeContext['onLost']; readonly queueing: Queueing },
): Omit<LockClient, keyof AsyncDisposable> {
  const places = new WeakMap<AcquireRequest, Place>();
  const deadlines = new Map<AcquireRequest, Deadline>();

  const forget = (request: AcquireRequest): void => {
    deadlines.get(request)?.[Symbol.dispose]();
    deadlines.delete(request);
  };

  return {
    async acquire(request) {
      const leased = await leasePlace(etcd, clock, { request, queueing });
      if (leased.kind !== 'ok') return leased;
      const place = leased.value;
      places.set(request, place);
      const outcome = await waitForTurn(etcd, clock, { request, place });
      if (outcome.kind === 'ok')
        deadlines.set(
          request,
          watchDeadline(clock, place.validUntil, () => onLost(request, 'deadline')),
        );
      return outcome;
    },
    async renew({ request }) {
      const place = places.get(request);
      if (place === undefined) throw new Error(`renewed ${request.owner}, which was not granted here`);
      const kept = await keepPlace(etcd, clock, place);
      deadlines.get(request)?.extendTo(place.validUntil);
      return kept;
    },
    async release({ request }) {
      forget(request);
      const place = places.get(request);
      if (place === undefined) throw new Error(`released ${request.owner}, which was not granted here`);
      return await giveBack(etcd, clock, place);
    },
    async abandon(request) {
      const place = places.get(request);
      const left = place === undefined ? undefined : await giveBack(etcd, clock, place);
      // The place may have waited and never held, so its end says nothing about a tenure.
      return left === undefined || left.kind === 'ok' ? { kind: 'ok', value: {} } : left;
    },
  };
}
