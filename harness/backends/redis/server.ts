// The backend `redis-single`: one Redis server and the recipes that use it as a lock service. Puts the recipes on the
// real port; knows the server's command line and nothing of how nodes are run.

import type { Backend } from '../../contract/backend.ts';
import type { NodeSpec } from '../../contract/cluster.ts';
import type { Recipe } from '../../contract/lock-client.ts';
import { openLocatedRedisPort } from './connection.ts';
import { REDIS_ERRORS } from './errors.ts';
import type { RedisRecipe } from './port.ts';
import type { OpenRedisPort } from './port-over.ts';
import { readTime } from './time.ts';
import { constantValue } from './recipes/constant-value.ts';
import { reacquireInsteadOfLost } from './recipes/reacquire-instead-of-lost.ts';
import { renewAsUpsert } from './recipes/renew-as-upsert.ts';
import { renewBlind } from './recipes/renew-blind.ts';
import { tokenOnVolatileKey } from './recipes/token-on-volatile-key.ts';
import { tokenPerProcess } from './recipes/token-per-process.ts';
import { delUnconditional } from './recipes/del-unconditional.ts';
import { fencedIncr } from './recipes/fenced-incr.ts';
import { getThenDel } from './recipes/get-then-del.ts';
import { readIgnoresWriter } from './recipes/read-ignores-writer.ts';
import { readWrite } from './recipes/read-write.ts';
import { reentrant } from './recipes/reentrant.ts';
import { reentrantDropsAll } from './recipes/reentrant-drops-all.ts';
import { semaphore } from './recipes/semaphore.ts';
import { semaphoreCountThenAdd } from './recipes/semaphore-count-then-add.ts';
import { setNxPx } from './recipes/set-nx-px.ts';
import { setnxThenExpire } from './recipes/setnx-then-expire.ts';
import { askVersion } from './version.ts';
import { watchdog } from './recipes/watchdog.ts';

/** The recipes for one server, without a port. */
export const SINGLE_SERVER_RECIPES: readonly RedisRecipe[] = [
  setNxPx,
  watchdog,
  fencedIncr,
  semaphore,
  readWrite,
  reentrant,
  delUnconditional,
  getThenDel,
  setnxThenExpire,
  constantValue,
  reacquireInsteadOfLost,
  renewAsUpsert,
  renewBlind,
  tokenOnVolatileKey,
  tokenPerProcess,
  semaphoreCountThenAdd,
  readIgnoresWriter,
  reentrantDropsAll,
];

/** What was acknowledged is on disk, so a server that is killed and started has lost no lock. */
export const APPEND_ALWAYS = ['--appendonly', 'yes', '--appendfsync', 'always'];

/** One Redis server; `settings` are arguments of redis-server. */
export function redisNode(name: string, settings: readonly string[]): NodeSpec {
  return {
    name,
    role: 'server',
    image: 'redis',
    command: settings,
    port: 6379,
    dataFolder: '/data',
    ready: { kind: 'tcp', send: 'PING\r\n', expect: '+PONG' },
  };
}

const SETTINGS_OF_VARIANT: Readonly<Record<string, readonly string[]>> = {
  'no-persistence': [],
  everysec: ['--appendonly', 'yes', '--appendfsync', 'everysec'],
};
const IMAGE_OF_VARIANT: Readonly<Record<string, string>> = { valkey: 'valkey', 'valkey-9': 'valkey9' };

export const redisSingle: Backend = {
  name: 'redis-single',
  topology: 'one Redis server that has every write on disk before it answers',
  variants: [
    { name: 'everysec', summary: 'one Redis server that has every write on disk a second after its answer' },
    { name: 'no-persistence', summary: 'one Redis server that writes nothing to disk: it comes back empty' },
    { name: 'valkey', summary: 'one Valkey 8.1 server that has every write on disk before it answers' },
    {
      name: 'valkey-9',
      summary: 'one Valkey 9 server (it offers DELIFEQ) that has every write on disk before it answers',
    },
  ],
  servers: ({ variant }) => [
    {
      ...redisNode('r1', SETTINGS_OF_VARIANT[variant] ?? APPEND_ALWAYS),
      image: IMAGE_OF_VARIANT[variant] ?? 'redis',
    },
  ],
  version: askVersion,
  readTime,
  recipes: recipesOnServer(openLocatedRedisPort),
  errors: REDIS_ERRORS,
  // A key expires within a millisecond of its time (EXPIRE, "Expires and accuracy", Redis 8.0); the rest is for a
  // client that polls on a busy machine.
  slackMillis: 1000,
  startsEmpty: true,
};

/** The recipes of this backend, on ports that are opened like this. */
export function recipesOnServer(open: OpenRedisPort): readonly Recipe[] {
  return SINGLE_SERVER_RECIPES.map((recipe) => ({
    ...recipe,
    open: (context) => {
      const [server] = context.servers;
      if (server === undefined) throw new Error(`${recipe.name} needs a server`);
      const redis = open(() => Promise.resolve(server), context.commandTimeLimit);
      const lockClient = recipe.lockClient(redis, () => context.now());
      return { ...lockClient, [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose]() };
    },
  }));
}
