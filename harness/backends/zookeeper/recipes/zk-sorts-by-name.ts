// Wrong on purpose: puts the nodes in order by their whole names, in which the value of the attempt comes before the number,
// and not by the number. Everybody agrees on that order, but whoever comes with a low name is the first at once, though
// others wait, and though one of them holds the lock.

import type { ZooKeeperRecipe } from '../port.ts';
import { alone } from '../queue.ts';
import { ephemeralSequential, queueClient, sessionWatch } from './ephemeral-sequential.ts';

export const zkSortsByName: ZooKeeperRecipe = {
  ...ephemeralSequential,
  name: 'zk-sorts-by-name',
  summary: 'as ephemeral-sequential, but the nodes are sorted by their names and not by their numbers',
  flaw: 'whoever comes with a low name passes those who wait, and the one who holds the lock',
  lockClient: (zooKeeper, clock, onLost) =>
    queueClient(zooKeeper, clock, { watch: sessionWatch(onLost), turn: alone, rank: (node) => node }),
};
