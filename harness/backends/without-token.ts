// A semaphore as a queue gets a place from the service that would do as a token of a lock with one holder. Handed out, it
// would promise what it cannot keep: the store would refuse one of several rightful holders.

import type { LockClient } from '../contract/lock-client.ts';

type Locks = Omit<LockClient, keyof AsyncDisposable>;

/** The same client, whose grants have no token. */
export function withoutToken(locks: Locks): Locks {
  return {
    ...locks,
    async acquire(request) {
      const acquired = await locks.acquire(request);
      if (acquired.kind !== 'ok') return acquired;
      const { token: _, ...grant } = acquired.value;
      return { ...acquired, value: grant };
    },
  };
}
