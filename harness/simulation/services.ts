// The lock services that can be simulated: which program a server of an image runs, and how a client's recipes reach it.
// A backend that is not here is not simulated, and asking for it is an error.

import type { NodeSpec } from '../contract/cluster.ts';
import { HarnessError } from '../contract/errors.ts';
import type { Recipe, RecipeContext } from '../contract/lock-client.ts';
import type { Clock } from '../clock.ts';
import { librariesOver } from '../backends/etcd/library.ts';
import { portsOver as etcdPortsOver } from '../backends/etcd/port-over.ts';
import { etcd3LockOn } from '../backends/etcd/recipes/etcd3-lock.ts';
import { recipesOnCluster } from '../backends/etcd/server.ts';
import { recipesOnSessions } from '../backends/postgres/server.ts';
import { portsOver, type OpenRedisPort } from '../backends/redis/port-over.ts';
import { recipesOnServer } from '../backends/redis/server.ts';
import { recipesOnReplicated } from '../backends/redis-replicated/server.ts';
import { recipesBySentinels } from '../backends/redis-sentinel/server.ts';
import { recipesOnVoters } from '../backends/redlock/server.ts';
import { portsOver as zooKeeperPortsOver } from '../backends/zookeeper/port-over.ts';
import { recipesOnEnsemble } from '../backends/zookeeper/server.ts';
import { libraryOn } from './etcd/library.ts';
import { runEtcd } from './etcd/server.ts';
import { simulatedEtcdWires } from './etcd/wire.ts';
import { runPostgres } from './postgres/server.ts';
import { lockStatements } from './postgres/lock-statements.ts';
import { simulatedSessions } from './postgres/session.ts';
import { storeStatements } from './postgres/store-statements.ts';
import type { Machine, Program } from './program.ts';
import { runRedis, settingsOf } from './redis/server.ts';
import { simulatedDial } from './redis/wire.ts';
import { runSentinel } from './sentinel/server.ts';
import { runZooKeeper } from './zookeeper/server.ts';
import { simulatedWires } from './zookeeper/wire.ts';

/** Backend → its recipes as a client on that machine opens them. */
const RECIPES: Readonly<Record<string, (machine: Machine) => readonly Recipe[]>> = {
  'redis-single': (machine) => recipesOnServer(redisPorts(machine)),
  'redis-replicated': (machine) => recipesOnReplicated(redisPorts(machine)),
  'redis-sentinel': (machine) => recipesBySentinels(redisPorts(machine)),
  etcd: (machine) => {
    const openPort = etcdPortsOver(simulatedEtcdWires(machine), machine.process.after);
    const openLibrary = librariesOver(() => Promise.resolve(libraryOn(machine)), machine.process.after);
    return [etcd3LockOn(openLibrary), ...recipesOnCluster(openPort, clockOf(machine))];
  },
  postgres: (machine) => recipesOnSessions(simulatedSessions(machine)),
  redlock: (machine) => recipesOnVoters(redisPorts(machine)),
  zookeeper: (machine) => {
    const openPort = zooKeeperPortsOver(simulatedWires(machine), machine.process.after);
    return recipesOnEnsemble(openPort, clockOf(machine));
  },
};

/** What a recipe reads is the run's clock; it sleeps as its process does. */
function clockOf({ process }: Machine): (context: Pick<RecipeContext, 'now'>) => Clock {
  const clock = process.clock(0);
  return (context) => ({
    now: () => context.now(),
    sleep: (duration, signal) => clock.sleep(duration, signal),
  });
}

function redisPorts(machine: Machine): OpenRedisPort {
  return portsOver(simulatedDial(machine), machine.process.after);
}

export const SIMULATED_BACKENDS: readonly string[] = Object.keys(RECIPES);

/** Throws HarnessError('internal') if that backend is not simulated. */
export function recipesOf(backend: string): (machine: Machine) => readonly Recipe[] {
  const recipes = RECIPES[backend];
  if (recipes === undefined) throw new HarnessError('internal', `${backend} is not simulated`);
  return recipes;
}

/** Image → what its servers are. */
const REDIS_OF_IMAGE: Readonly<Record<string, Parameters<typeof settingsOf>[1]>> = {
  redis: { program: 'redis', version: '8.0.2', offers: new Set() },
  valkey: { program: 'valkey', version: '8.1.1', offers: new Set() },
  valkey9: { program: 'valkey', version: '9.0.0', offers: new Set(['DELIFEQ']) },
};

/** What a server or the store runs. */
export function serverProgram({ name, role, image, entrypoint = [], command = [] }: NodeSpec): Program {
  if (role === 'store' || image === 'postgres') {
    const statements = role === 'store' ? storeStatements() : lockStatements();
    return (machine) => runPostgres(machine, statements);
  }
  if (image === 'etcd') return runEtcd;
  if (image === 'zookeeper') return runZooKeeper;
  if (entrypoint.includes('--sentinel')) return runSentinel;
  const redis = REDIS_OF_IMAGE[image];
  if (redis !== undefined) return (machine) => runRedis(machine, settingsOf(command, redis));
  throw new HarnessError('internal', `node ${name} has the image ${image}, which is not simulated`);
}
