// The lock of the library etcd3 itself, as its users get it: `client.lock(key).ttl(seconds).acquire()`, with the
// library's own retries, renewals and notice of a lost lease. Only what it does not have is added, because without it
// a stopped server would hang the caller for ever: a time limit on each call.

import { EventEmitter } from 'node:events';
import type * as etcd3 from 'etcd3';
import type { Etcd3, Lock } from 'etcd3';
import { machineTimer, wallTime, type Timer } from '../../clock.ts';
import type { Outcome } from '../../contract/lock-client.ts';
import type { Millis } from '../../history/op.ts';
import { loadDriver } from './driver.ts';
import { outcomeOfError } from './errors.ts';
import { outcomeWithin } from './outcome-within.ts';
import type { Server } from './port-over.ts';

/** A lock that was asked for; whatever came of that, it can be given back. */
export interface LibraryLock {
  /** `fail` with `busy`: the key is there. */
  acquire(): Promise<Outcome<unknown>>;
  release(): Promise<Outcome<unknown>>;
}

export interface EtcdLibrary extends AsyncDisposable {
  /** `onLost`: the library says that the lease is gone. */
  lock(key: string, ttlSeconds: number, onLost: () => void): Promise<LibraryLock>;
}

/** What is used of the package. */
export type Library = Pick<typeof etcd3, 'Etcd3'>;

/** How the library is opened on a cluster. */
export type OpenEtcdLibrary = (servers: readonly Server[], timeLimit: Millis) => EtcdLibrary;

/** On the machine. */
export const openEtcdLibrary = librariesOver(async () => (await loadDriver()).etcd3, machineTimer);

/** With the library that `load` gives, whatever it speaks to and whatever time it reads. */
export function librariesOver(load: () => Promise<Library>, timer: Timer): OpenEtcdLibrary {
  return (servers, timeLimit) => {
    let opened: Promise<Etcd3> | undefined;

    const open = async (): Promise<Etcd3> => {
      const { Etcd3: Client } = await load();
      return new Client({
        hosts: servers.map(({ host, port }) => `http://${host}:${port}`),
        defaultCallOptions: ({ isStream }) =>
          isStream ? {} : { deadline: wallTime().getTime() + timeLimit },
      });
    };

    const settle = (answer: Promise<unknown>): Promise<Outcome<unknown>> =>
      outcomeWithin(answer, { timer, timeLimit }, (error) =>
        error instanceof Error && error.constructor.name === 'EtcdLockFailedError'
          ? { kind: 'fail', error: 'busy' }
          : outcomeOfError(error),
      );

    return {
      async lock(key, ttlSeconds, onLost) {
        opened ??= open();
        const lock = (await opened).lock(key).ttl(ttlSeconds);
        return {
          acquire: async () => {
            const outcome = await settle(acquireFrom(lock, onLost));
            // Else the library would keep the lease alive for ever, though nobody was told of it.
            if (outcome.kind === 'fail' && outcome.error !== 'busy') await settle(lock.release());
            return outcome;
          },
          release: () => settle(lock.release()),
        };
      },
      [Symbol.asyncDispose]: async () => {
        (await opened)?.close();
      },
    };
  };
}

/** The lease belongs to the lock, which has no way to ask for it; it is where the loss is told. */
function acquireFrom(lock: Lock, onLost: () => void): Promise<unknown> {
  const acquired = lock.acquire();
  const lease: unknown = Reflect.get(lock, 'lease');
  if (lease instanceof EventEmitter) lease.on('lost', onLost);
  return acquired;
}
