// The backend `redlock`: five Redis servers that know nothing of each other. Puts the recipes on real ports; knows the
// servers' command lines and nothing of how nodes are run.

import { DEFAULT_VARIANT, type Backend, type ServerOptions } from '../../contract/backend.ts';
import type { NodeSpec } from '../../contract/cluster.ts';
import type { Recipe } from '../../contract/lock-client.ts';
import { millis } from '../../history/op.ts';
import { openLocatedRedisPort } from '../redis/connection.ts';
import type { OpenRedisPort } from '../redis/port-over.ts';
import { APPEND_ALWAYS, redisNode } from '../redis/server.ts';
import { readTime } from '../redis/time.ts';
import { askVersion } from '../redis/version.ts';
import { REDLOCK_ERRORS } from './errors.ts';
import type { RedlockRecipe } from './port.ts';
import { redlockMinority } from './recipes/redlock-minority.ts';
import { redlockNoValidityCheck } from './recipes/redlock-no-validity-check.ts';
import { redlock } from './recipes/redlock.ts';

const NODES = 5;
/** Of what a client gives an operation as a whole, so that four silent servers do not use up a lease of one second. */
const TIME_LIMIT_SHARE = 0.2;
/** "Longer than the longest TTL", with room for clocks that run apart. */
const DELAY_SHARE = 1.1;

const REDLOCK_RECIPES: readonly RedlockRecipe[] = [redlock, redlockNoValidityCheck, redlockMinority];

export const redlockBackend: Backend = {
  name: 'redlock',
  topology: 'five independent Redis servers, each with every write on disk before it answers',
  variants: [
    {
      name: 'no-persistence',
      summary:
        'five independent Redis servers that write nothing to disk: one that ends comes back empty, and at once',
    },
    {
      name: 'delayed-restart',
      summary:
        'five independent Redis servers that write nothing to disk: one that ends comes back empty, and not before the longest TTL has passed',
    },
  ],
  servers: (options) => Array.from({ length: NODES }, (_, index) => serverSpec(`r${index + 1}`, options)),
  version: askVersion,
  readTime,
  recipes: recipesOnVoters(openLocatedRedisPort),
  errors: REDLOCK_ERRORS,
  // As for one server; and what a vote that arrived late left behind runs out with its own TTL.
  slackMillis: 1000,
  startsEmpty: true,
};

function serverSpec(name: string, { variant, ttlMillis }: ServerOptions): NodeSpec {
  if (variant === DEFAULT_VARIANT) return redisNode(name, APPEND_ALWAYS);
  const node = redisNode(name, []);
  return variant === 'delayed-restart'
    ? { ...node, restartDelayMillis: millis(ttlMillis * DELAY_SHARE) }
    : node;
}

/** The recipes of this backend, on ports that are opened like this. */
export function recipesOnVoters(open: OpenRedisPort): readonly Recipe[] {
  return REDLOCK_RECIPES.map((recipe) => ({
    ...recipe,
    open: (context) => {
      const timeLimit = millis(context.commandTimeLimit * TIME_LIMIT_SHARE);
      const nodes = context.servers.map((server) => ({
        name: server.name,
        redis: open(() => Promise.resolve(server), timeLimit),
      }));
      return {
        ...recipe.lockClient(nodes, () => context.now()),
        [Symbol.asyncDispose]: async () => {
          await Promise.all(nodes.map(({ redis }) => redis[Symbol.asyncDispose]()));
        },
      };
    },
  }));
}
