// The backend `redis-replicated`: a primary and two replicas, without anybody who watches them. Puts the recipes on the
// real port; knows the servers' command lines and how they become a group.

import type { Backend } from '../../contract/backend.ts';
import type { Node } from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import type { Recipe, RecipeContext } from '../../contract/lock-client.ts';
import { millis } from '../../history/op.ts';
import { monotonicClock, monotonicOrigin } from '../../clock.ts';
import { openLocatedRedisPort } from '../redis/connection.ts';
import type { Locate, OpenRedisPort } from '../redis/port-over.ts';
import { APPEND_ALWAYS, redisNode, SINGLE_SERVER_RECIPES } from '../redis/server.ts';
import { readTime } from '../redis/time.ts';
import { askVersion } from '../redis/version.ts';
import { REPLICATED_ERRORS } from './errors.ts';
import type { ReplicatedRecipe } from './port.ts';
import { primaryAmong } from './primary.ts';
import { waitAll } from './recipes/wait-all.ts';
import { wait1 } from './recipes/wait-1.ts';
import { askRedis, follow, operatedRoles } from './roles.ts';

export const REPLICATED_NODES: readonly string[] = ['r1', 'r2', 'r3'];
const REPLICAS = REPLICATED_NODES.length - 1;
/** A replica reports its position once a second (replicationCron, src/replication.c, Redis 8.0). */
const LAG_SECONDS_MAX = 1;
const IN_STEP_TIME_LIMIT_MILLIS = 20_000;

/** Those that are right for one server, and those that wait for replicas. */
const REPLICATED_RECIPES: readonly ReplicatedRecipe[] = [
  ...SINGLE_SERVER_RECIPES.filter(({ flaw, kind }) => flaw === undefined && kind === undefined),
  wait1,
  waitAll,
];

export const redisReplicated: Backend = {
  name: 'redis-replicated',
  topology: 'a Redis primary with two replicas; an operator promotes one when the primary is gone',
  variants: [
    {
      name: 'min-replicas',
      summary: `a Redis primary with two replicas, which refuses writes when none is in step (min-replicas-to-write 1, min-replicas-max-lag ${LAG_SECONDS_MAX})`,
    },
  ],
  servers: ({ variant }) => {
    const settings =
      variant === 'min-replicas'
        ? ['--min-replicas-to-write', '1', '--min-replicas-max-lag', String(LAG_SECONDS_MAX)]
        : [];
    return REPLICATED_NODES.map((name) => redisNode(name, [...APPEND_ALWAYS, ...settings]));
  },
  assemble: assembleGroup,
  version: askVersion,
  roles: operatedRoles,
  readTime,
  recipes: recipesOnReplicated(openLocatedRedisPort),
  errors: REPLICATED_ERRORS,
  // As for one server; and a replica that comes back is in step within some seconds, before which `wait-all` and
  // `min-replicas` grant nothing.
  slackMillis: 5000,
};

/** Makes the first server the primary of the others, and waits until they are in step. Throws HarnessError. */
export async function assembleGroup([primary, ...replicas]: readonly Node[]): Promise<void> {
  if (primary === undefined) throw new HarnessError('internal', 'a group without servers');
  await Promise.all(replicas.map((replica) => follow(replica, primary)));
  const clock = monotonicClock(monotonicOrigin());
  while (clock.now() < IN_STEP_TIME_LIMIT_MILLIS * 1e6) {
    const info = (await askRedis(primary, 'INFO replication')) ?? '';
    if (info.match(/state=online/g)?.length === replicas.length) return;
    await clock.sleep(millis(50));
  }
  throw new HarnessError(
    'environment',
    `the replicas were not in step within ${IN_STEP_TIME_LIMIT_MILLIS} ms`,
  );
}

/** The recipes of this backend, on ports that are opened like this. */
export function recipesOnReplicated(open: OpenRedisPort): readonly Recipe[] {
  return recipesOnPrimary(open, ({ servers, commandTimeLimit }) =>
    primaryAmong(servers, commandTimeLimit, open),
  );
}

/** The same, on ports to the primary that `locate` finds. */
export function recipesOnPrimary(
  open: OpenRedisPort,
  locate: (context: RecipeContext) => Locate,
): readonly Recipe[] {
  return REPLICATED_RECIPES.map((recipe) => ({
    ...recipe,
    open: (context) => {
      const redis = open(locate(context), context.commandTimeLimit);
      const group = { replicas: REPLICAS, waitMillis: millis(Math.floor(context.commandTimeLimit / 2)) };
      const lockClient = recipe.lockClient(redis, () => context.now(), group);
      return { ...lockClient, [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose]() };
    },
  }));
}
