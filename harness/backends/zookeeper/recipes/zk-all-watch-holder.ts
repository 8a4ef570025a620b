// Wrong on purpose: everybody watches the node of the holder, and takes the lock when that is gone. All who wait wake up at
// once, the herd that ZooKeeper's documentation warns of, and each believes that it is the next one.

import type { ZooKeeperRecipe } from '../port.ts';
import { ephemeralSequential, queueClient, sessionWatch } from './ephemeral-sequential.ts';
import { watchOnce } from './zk-no-recheck.ts';

export const zkAllWatchHolder: ZooKeeperRecipe = {
  ...ephemeralSequential,
  name: 'zk-all-watch-holder',
  summary: 'as ephemeral-sequential, but everybody waits for the first node to go, and then takes the lock',
  flaw: 'all who wait take the lock when its holder lets go, whoever came first',
  lockClient: (zooKeeper, clock, onLost) =>
    queueClient(zooKeeper, clock, {
      watch: sessionWatch(onLost),
      turn: (lower) => lower.slice(0, 1),
      wait: watchOnce,
    }),
};
