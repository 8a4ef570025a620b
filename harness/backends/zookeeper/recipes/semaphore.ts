// A semaphore as a queue of numbered nodes: whoever has fewer than so many before it has a permit ("ZooKeeper Recipes and
// Solutions", Locks, 3.9, with more than one at its head). No token: one that grows cannot tell who of several rightful
// holders is stale.

import { withoutToken } from '../../without-token.ts';
import type { ZooKeeperRecipe } from '../port.ts';
import type { Turn } from '../queue.ts';
import { queueClient, sessionWatch } from './ephemeral-sequential.ts';

const PERMITS = 2;

/** As long as the last so many before it are all there, there are not fewer. */
const amongTheFirst: Turn = (lower, { permits = PERMITS }) =>
  lower.length < permits ? [] : lower.slice(-permits);

export const semaphore: ZooKeeperRecipe = {
  name: 'semaphore',
  summary: `${PERMITS} permits unless told otherwise: a numbered node that ends with its session, with fewer than that before it`,
  polls: false,
  keepsAlive: true,
  ownerChecked: true,
  kind: 'semaphore',
  permits: PERMITS,
  lockClient: (zooKeeper, clock, onLost) =>
    withoutToken(queueClient(zooKeeper, clock, { watch: sessionWatch(onLost), turn: amongTheFirst })),
};
