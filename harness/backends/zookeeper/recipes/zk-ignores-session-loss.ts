// Wrong on purpose: never asks whether its session is still there. When it has ended, and the lock been granted to the
// next in the queue, the holder goes on believing until its work is done.

import type { ZooKeeperRecipe } from '../port.ts';
import { alone } from '../queue.ts';
import { ephemeralSequential, queueClient } from './ephemeral-sequential.ts';

export const zkIgnoresSessionLoss: ZooKeeperRecipe = {
  ...ephemeralSequential,
  name: 'zk-ignores-session-loss',
  summary:
    'as ephemeral-sequential, but what becomes of the session is not looked at once the lock was granted',
  flaw: 'a holder whose session has ended goes on',
  lockClient: (zooKeeper, clock) =>
    queueClient(zooKeeper, clock, { watch: () => Promise.resolve(), turn: alone }),
};
