// The shared lock of ZooKeeper's documentation ("ZooKeeper Recipes and Solutions", Shared Locks, 3.9): nodes of readers and
// of writers stand in one queue. A writer waits for whoever is before it, a reader for the writers only, so neither side
// can keep the other waiting for ever.

import type { ZooKeeperRecipe } from '../port.ts';
import { alone, type Turn } from '../queue.ts';
import { queueClient, sessionWatch } from './ephemeral-sequential.ts';

const WRITER = 'write';
const READER = 'read';

const afterWriters: Turn = (lower, request) =>
  alone(request.shared === true ? lower.filter((node) => node.includes(`-${WRITER}-`)) : lower, request);

export const readWrite: ZooKeeperRecipe = {
  name: 'read-write',
  summary:
    'numbered nodes of readers and writers in one queue; a reader waits for the writers before it only',
  tokenSource: 'transaction that created the node (czxid)',
  polls: false,
  keepsAlive: true,
  ownerChecked: true,
  kind: 'read-write',
  lockClient: (zooKeeper, clock, onLost) =>
    queueClient(zooKeeper, clock, {
      watch: sessionWatch(onLost),
      turn: afterWriters,
      mark: ({ shared }) => (shared === true ? READER : WRITER),
    }),
};
