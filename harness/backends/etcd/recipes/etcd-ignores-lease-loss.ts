// Wrong on purpose: keeps its lease alive in the background and never looks at what comes of it. When the lease has
// ended, and the lock been granted to the next in the queue, it goes on believing until its work is done.

import { millis } from '../../../history/op.ts';
import type { AcquireRequest } from '../../../contract/lock-client.ts';
import type { EtcdRecipe } from '../port.ts';
import { giveBack, keepPlace, leasePlace, oneByOne, RENEW_AT, waitForTurn, type Place } from '../queue.ts';

export const etcdIgnoresLeaseLoss: EtcdRecipe = {
  name: 'etcd-ignores-lease-loss',
  summary: 'as lease-queue, but what becomes of the lease is not looked at once the lock was granted',
  tokenSource: 'create revision of the key',
  polls: false,
  keepsAlive: true,
  ownerChecked: true,
  flaw: 'a holder whose lease has ended is told so and goes on',
  lockClient: (etcd, clock) => {
    const places = new WeakMap<AcquireRequest, Place>();
    const stops = new Map<AcquireRequest, AbortController>();

    const keepAlive = async (place: Place, stop: AbortSignal): Promise<void> => {
      const pace = millis(place.ttlSeconds * 1_000 * RENEW_AT);
      while (!stop.aborted) {
        await keepPlace(etcd, clock, place);
        await clock.sleep(pace, stop).catch(() => undefined);
      }
    };
    const leave = async (request: AcquireRequest) => {
      stops.get(request)?.abort();
      stops.delete(request);
      const place = places.get(request);
      return place === undefined ? undefined : await giveBack(etcd, clock, place);
    };

    return {
      async acquire(request) {
        const leased = await leasePlace(etcd, clock, { request, queueing: oneByOne });
        if (leased.kind !== 'ok') return leased;
        places.set(request, leased.value);
        const outcome = await waitForTurn(etcd, clock, { request, place: leased.value });
        if (outcome.kind === 'ok') {
          const stop = new AbortController();
          stops.set(request, stop);
          void keepAlive(leased.value, stop.signal);
        }
        return outcome;
      },
      release: async ({ request }) => (await leave(request)) ?? { kind: 'ok', value: {} },
      async abandon(request) {
        const left = await leave(request);
        return left === undefined || left.kind === 'ok' ? { kind: 'ok', value: {} } : left;
      },
    };
  },
};
