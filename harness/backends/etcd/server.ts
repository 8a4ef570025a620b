// The backend `etcd`: a cluster of three members and the recipes that use it as a lock service. Puts the recipes on the
// real port; knows the members' flags and nothing of how nodes are run.

import type { Backend } from '../../contract/backend.ts';
import type { NodeSpec } from '../../contract/cluster.ts';
import type { Clock } from '../../clock.ts';
import type { Recipe, RecipeContext } from '../../contract/lock-client.ts';
import { runClock } from '../run-clock.ts';
import { openEtcdPort } from './connection.ts';
import { loadDriver } from './driver.ts';
import { ETCD_ERRORS } from './errors.ts';
import type { EtcdRecipe } from './port.ts';
import type { OpenEtcdPort } from './port-over.ts';
import { openEtcdLibrary } from './library.ts';
import { etcd3LockOn } from './recipes/etcd3-lock.ts';
import { etcdIgnoresLeaseLoss } from './recipes/etcd-ignores-lease-loss.ts';
import { leaseQueue } from './recipes/lease-queue.ts';
import { leaseTxnGuard } from './recipes/lease-txn-guard.ts';
import { readWrite } from './recipes/read-write.ts';
import { semaphore } from './recipes/semaphore.ts';
import { askRole, askVersion, promote } from './member.ts';

const ETCD_RECIPES: readonly EtcdRecipe[] = [
  leaseQueue,
  leaseTxnGuard,
  semaphore,
  readWrite,
  etcdIgnoresLeaseLoss,
];

const MEMBERS = ['e1', 'e2', 'e3'];
const CLIENT_PORT = 2379;
const PEER_PORT = 2380;
/** Half of etcd's defaults: a lease then lasts one second at least, not two (etcd 3.5, MinLeaseTTL in server.go). */
const HEARTBEAT_MILLIS = 50;
const ELECTION_MILLIS = 500;

const MONOTONIC = 'a lease of etcd runs on the monotonic clock, which nobody can set';

export const etcd: Backend = {
  name: 'etcd',
  topology: 'three etcd members, one cluster',
  servers: () => MEMBERS.map(member),
  version: askVersion,
  roles: { ask: askRole, promote },
  // Go counts a timer and the difference of two times on the monotonic clock ("Monotonic Clocks", package time), and calls
  // the kernel without the C library.
  notApplicable: {
    'clock-jump': MONOTONIC,
    'clock-drift': MONOTONIC,
    'clock-strobe': MONOTONIC,
    'slow-fsync': 'etcd calls the kernel without the C library, which is where an fsync could be held back',
  },
  recipes: [etcd3LockOn(openEtcdLibrary), ...recipesOnCluster(openEtcdPort, runClock)],
  errors: ETCD_ERRORS,
  leasesRestart: true,
  // The leader looks for expired leases every 0.5 s, and tries a revocation that failed again after 5 s and two election
  // time-outs (etcd 3.5, lessor.go, ExpiredLeasesRetryInterval in server.go). A lease is rounded up to whole seconds,
  // and an election takes up to two election time-outs.
  slackMillis: 9_000,
};

function member(name: string): NodeSpec {
  const peer = (of: string): string => `http://${of}:${PEER_PORT}`;
  return {
    name,
    role: 'server',
    image: 'etcd',
    command: [
      'etcd',
      `--name=${name}`,
      '--data-dir=/data/etcd',
      `--listen-client-urls=http://0.0.0.0:${CLIENT_PORT}`,
      `--advertise-client-urls=http://${name}:${CLIENT_PORT}`,
      `--listen-peer-urls=http://0.0.0.0:${PEER_PORT}`,
      `--initial-advertise-peer-urls=${peer(name)}`,
      `--initial-cluster=${MEMBERS.map((of) => `${of}=${peer(of)}`).join(',')}`,
      `--heartbeat-interval=${HEARTBEAT_MILLIS}`,
      `--election-timeout=${ELECTION_MILLIS}`,
    ],
    port: CLIENT_PORT,
    // Answered with 200 only by a member that reaches a leader.
    ready: { kind: 'tcp', send: 'GET /health HTTP/1.0\r\n\r\n', expect: 'HTTP/1.0 200' },
  };
}

/** The digits in a process's name: clients begin at different members, the same ones in every run. */
function numberIn(process: string): number {
  return Number(process.replaceAll(/\D/g, '').slice(0, 9));
}

/** The recipes that stand on the port, on ports that are opened like this and on that clock. */
export function recipesOnCluster(
  openPort: OpenEtcdPort,
  clockOf: (context: Pick<RecipeContext, 'now'>) => Clock,
): readonly Recipe[] {
  return ETCD_RECIPES.map((recipe) => ({
    ...recipe,
    load: loadDriver,
    open: (context) => {
      const clock = clockOf(context);
      const port = openPort(context.servers, {
        first: numberIn(context.process),
        timeLimit: context.commandTimeLimit,
      });
      const lockClient = recipe.lockClient(port, clock, (request, reason) => context.onLost(request, reason));
      return { ...lockClient, [Symbol.asyncDispose]: () => port[Symbol.asyncDispose]() };
    },
  }));
}
