// What a user of the library etcd3 gets from its `lock()`: one key, tried once, no token. The library renews the lease
// by itself and says that it is lost after twice the TTL, if it cannot reach a server, and until then its user believes.

import type { Outcome, Recipe } from '../../../contract/lock-client.ts';
import { loadDriver } from '../driver.ts';
import type { LibraryLock, OpenEtcdLibrary } from '../library.ts';
import { leaseEnd, wholeSeconds } from '../queue.ts';

/** With the library opened like this. */
export function etcd3LockOn(openLibrary: OpenEtcdLibrary): Recipe {
  return {
    name: 'etcd3-lock',
    summary:
      "the library's own lock(): a key that is created if it is not there, with a lease that it keeps alive",
    polls: true,
    keepsAlive: true,
    ownerChecked: true,
    load: loadDriver,
    open: (context) => {
      const library = openLibrary(context.servers, context.commandTimeLimit);
      const locks = new WeakMap<object, LibraryLock>();
      const giveBack = async (request: object): Promise<Outcome<object>> => {
        const outcome = await locks.get(request)?.release();
        // The library swallows that the lease was gone.
        return outcome === undefined || outcome.kind === 'ok' ? { kind: 'ok', value: {} } : outcome;
      };
      return {
        async acquire(request) {
          const ttlSeconds = wholeSeconds(request.ttlMillis);
          const lock = await library.lock(`lock/${request.lock}`, ttlSeconds, () =>
            context.onLost(request, 'lease-lost'),
          );
          locks.set(request, lock);
          const validUntil = leaseEnd(context.now(), ttlSeconds);
          const outcome = await lock.acquire();
          return outcome.kind === 'ok' ? { kind: 'ok', value: { request, validUntil } } : outcome;
        },
        release: ({ request }) => giveBack(request),
        abandon: giveBack,
        [Symbol.asyncDispose]: () => library[Symbol.asyncDispose](),
      };
    },
  };
}
