// A semaphore as a queue of numbered nodes: whoever has fewer than so many before it has a permit ("ZooKeeper Recipes and
// Solutions", Locks, 3.9, with more than one at its head). No token: one that grows cannot tell who of several rightful
// holders is stale.

import type { Acquired } from '../../../contract/lock-client.ts';
import type { ZooKeeperRecipe } from '../port.ts';
import type { Turn } from '../queue.ts';
import { queueClient, sessionWatch } from './ephemeral-sequential.ts';

const PERMITS = 2;

/** Any of those before it may be the one who makes room. */
const amongTheFirst: Turn = (lower) => (lower.length < PERMITS ? [] : lower);

export const semaphore: ZooKeeperRecipe = {
  name: 'semaphore',
  summary: `${PERMITS} permits: a numbered node that ends with its session, with fewer than ${PERMITS} before it`,
  polls: false,
  keepsAlive: true,
  ownerChecked: true,
  kind: 'semaphore',
  permits: PERMITS,
  lockClient: (zooKeeper, clock, onLost) => {
    const queue = queueClient(zooKeeper, clock, { watch: sessionWatch(onLost), turn: amongTheFirst });
    return { ...queue, acquire: async (request) => withoutToken(await queue.acquire(request)) };
  },
};

function withoutToken(acquired: Acquired): Acquired {
  if (acquired.kind !== 'ok') return acquired;
  const { token: _, ...grant } = acquired.value;
  return { kind: 'ok', value: grant };
}
