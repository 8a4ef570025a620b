// The backend `zookeeper`: an ensemble of three servers and the recipes that use it as a lock service. Puts the recipes
// on the real port; knows the servers' configuration and nothing of how nodes are run.

import type { Backend } from '../../contract/backend.ts';
import type { NodeSpec } from '../../contract/cluster.ts';
import type { Clock } from '../../clock.ts';
import type { Recipe, RecipeContext } from '../../contract/lock-client.ts';
import type { Millis } from '../../history/op.ts';
import { runClock } from '../run-clock.ts';
import { openZooKeeperPort } from './connection.ts';
import { loadDriver } from './driver.ts';
import { ZOOKEEPER_ERRORS } from './errors.ts';
import type { ZooKeeperRecipe } from './port.ts';
import type { OpenZooKeeperPort } from './port-over.ts';
import { ephemeralSequential } from './recipes/ephemeral-sequential.ts';
import { readWrite } from './recipes/read-write.ts';
import { reentrant } from './recipes/reentrant.ts';
import { semaphore } from './recipes/semaphore.ts';
import { zkAllWatchHolder } from './recipes/zk-all-watch-holder.ts';
import { zkIgnoresSessionLoss } from './recipes/zk-ignores-session-loss.ts';
import { zkNoGuid } from './recipes/zk-no-guid.ts';
import { zkNoRecheck } from './recipes/zk-no-recheck.ts';
import { askRole, askVersion } from './srvr.ts';

/** The recipes without a port: a simulated ensemble can be put behind them as well. */
export const ZOOKEEPER_RECIPES: readonly ZooKeeperRecipe[] = [
  ephemeralSequential,
  semaphore,
  readWrite,
  reentrant,
  zkNoGuid,
  zkNoRecheck,
  zkAllWatchHolder,
  zkIgnoresSessionLoss,
];

const SERVERS = ['z1', 'z2', 'z3'];
const CLIENT_PORT = 2181;
/** A tenth of the default: a session then lasts 0.4 s at least, and ends at most one tick late. */
const TICK_MILLIS = 200;

const MONOTONIC = 'a session of ZooKeeper runs on the monotonic clock, which nobody can set';

export const zookeeper: Backend = {
  name: 'zookeeper',
  topology: 'three ZooKeeper servers, one ensemble',
  servers: ({ ttlMillis }) => SERVERS.map((name, index) => server(name, index + 1, ttlMillis)),
  version: askVersion,
  roles: { ask: askRole },
  // ZooKeeper 3.9, Time.currentElapsedTime, used by ExpiryQueue: System.nanoTime.
  notApplicable: { 'clock-jump': MONOTONIC, 'clock-drift': MONOTONIC, 'clock-strobe': MONOTONIC },
  recipes: recipesOnEnsemble(openZooKeeperPort, runClock),
  errors: ZOOKEEPER_ERRORS,
  leasesRestart: true,
  // A silent leader is noticed after syncLimit ticks and an election takes about as long again; a session ends one tick
  // late (ZooKeeper 3.9, administrator's guide, syncLimit; SessionTrackerImpl).
  slackMillis: 5_000,
  // A follower answers its clients itself, and tells the leader twice a tick whom it has heard (LearnerSessionTracker). One
  // that is cut off from its leader goes on doing so for syncLimit ticks, while the leader counts those sessions down: so a
  // session may be over at any time after its client was answered. Found by simulation, zookeeper/reentrant/swarm.
  clockTolerance: 1,
};

function server(name: string, id: number, ttlMillis: Millis): NodeSpec {
  const settings = [
    `tickTime=${TICK_MILLIS}`,
    'initLimit=50',
    'syncLimit=10',
    `maxSessionTimeout=${Math.max(20 * TICK_MILLIS, ttlMillis)}`,
    'dataDir=/data',
    `clientPort=${CLIENT_PORT}`,
    '4lw.commands.whitelist=srvr',
    'admin.enableServer=false',
    ...SERVERS.map((peer, index) => `server.${index + 1}=${peer}:2888:3888`),
  ];
  return {
    name,
    role: 'server',
    image: 'zookeeper',
    files: [
      { path: '/conf/zoo.cfg', content: `${settings.join('\n')}\n` },
      { path: '/data/myid', content: `${id}\n` },
    ],
    port: CLIENT_PORT,
    // Until it leads or follows it says that it is not serving requests.
    ready: { kind: 'tcp', send: 'srvr', expect: 'Zookeeper version' },
  };
}

/** The recipes on ports that are opened like this and on that clock. */
export function recipesOnEnsemble(
  openPort: OpenZooKeeperPort,
  clockOf: (context: Pick<RecipeContext, 'now'>) => Clock,
): readonly Recipe[] {
  return ZOOKEEPER_RECIPES.map((recipe) => ({
    ...recipe,
    load: loadDriver,
    open: (context) => {
      const clock = clockOf(context);
      const port = openPort({ servers: context.servers, timeLimit: context.commandTimeLimit, clock });
      const lockClient = recipe.lockClient(port, clock, (request, reason) => context.onLost(request, reason));
      return { ...lockClient, [Symbol.asyncDispose]: () => port[Symbol.asyncDispose]() };
    },
  }));
}
