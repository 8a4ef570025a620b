// Wrong on purpose: the node's name does not tell whose it is, and a create whose reply was lost is tried again. If the
// first one had made a node, its session keeps that alive, nobody knows that it holds the lock, and everybody waits.

import type { AcquireRequest, Outcome } from '../../../contract/lock-client.ts';
import type { ZooKeeperRecipe, ZooKeeperSession } from '../port.ts';
import { alone, enter, leave as leaveQueue, NO_SESSION, waitForTurn } from '../queue.ts';

const NAME = 'lock-';
const TRIES = 5;

export const zkNoGuid: ZooKeeperRecipe = {
  name: 'zk-no-guid',
  summary:
    'as ephemeral-sequential, but nothing in its name tells whose node it is; a lost create is tried again',
  tokenSource: 'transaction that created the node (czxid)',
  polls: false,
  keepsAlive: true,
  ownerChecked: true,
  flaw: 'a create that was carried out though its reply was lost leaves a node that nobody knows and nobody removes',
  lockClient: (zooKeeper, clock, onLost) => {
    const paths = new WeakMap<AcquireRequest, string>();
    const held = new Set<AcquireRequest>();

    const watch = async (session: ZooKeeperSession, request: AcquireRequest): Promise<void> => {
      const reason = await session.ended;
      if (held.delete(request)) onLost(request, `session ${reason}`);
    };
    const leave = async (request: AcquireRequest): Promise<Outcome<{ readonly released?: boolean }>> => {
      const path = paths.get(request);
      const opened = await zooKeeper.session(request.ttlMillis);
      if (path === undefined || opened.kind !== 'ok') return { kind: 'ok', value: {} };
      return await leaveQueue(opened.value, clock, path);
    };

    return {
      async acquire(request) {
        const opened = await zooKeeper.session(request.ttlMillis);
        if (opened.kind !== 'ok') return NO_SESSION;
        const session = opened.value;
        const entered = await enterAgain(session, request.lock);
        if (entered.kind !== 'ok') return entered;
        paths.set(request, entered.value);
        const outcome = await waitForTurn(session, clock, { request, path: entered.value, turn: alone });
        if (outcome.kind === 'ok') {
          held.add(request);
          void watch(session, request);
        }
        return outcome;
      },
      async release({ request }) {
        held.delete(request);
        return await leave(request);
      },
      abandon: leave,
    };
  },
};

async function enterAgain(session: ZooKeeperSession, lock: string): Promise<Outcome<string>> {
  let entered = await enter(session, lock, NAME);
  for (let tries = 1; entered.kind === 'info' && tries < TRIES; tries++)
    entered = await enter(session, lock, NAME);
  return entered;
}
