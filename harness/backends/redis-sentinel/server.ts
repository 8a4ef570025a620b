// The backend `redis-sentinel`: a primary, two replicas and three Sentinels that promote one of them when the primary is
// gone. The recipes are those of `redis-replicated`; what differs is how a client finds the primary.

import type { Backend } from '../../contract/backend.ts';
import type { Recipe } from '../../contract/lock-client.ts';
import { HarnessError } from '../../contract/errors.ts';
import { APPEND_ALWAYS, redisNode } from '../redis/server.ts';
import { readTime } from '../redis/time.ts';
import { askVersion } from '../redis/version.ts';
import { openLocatedRedisPort } from '../redis/connection.ts';
import type { OpenRedisPort } from '../redis/port-over.ts';
import { REPLICATED_ERRORS } from '../redis-replicated/errors.ts';
import { assembleGroup, recipesOnPrimary, REPLICATED_NODES } from '../redis-replicated/server.ts';
import { primaryBySentinels } from './primary.ts';
import { isSentinel, sentinelNodes, sentinelVersion, watchedRoles, watchPrimary } from './sentinels.ts';

export const redisSentinel: Backend = {
  name: 'redis-sentinel',
  topology: 'a Redis primary with two replicas, watched by three Sentinels',
  servers: () => [...REPLICATED_NODES.map((name) => redisNode(name, APPEND_ALWAYS)), ...sentinelNodes()],
  assemble: async (servers) => {
    const group = servers.filter(({ name }) => !isSentinel(name));
    const [primary] = group;
    if (primary === undefined) throw new HarnessError('internal', 'a group without servers');
    await assembleGroup(group);
    await watchPrimary(
      servers.filter(({ name }) => isSentinel(name)),
      primary,
    );
  },
  version: (node) => (isSentinel(node.name) ? sentinelVersion(node) : askVersion(node)),
  roles: watchedRoles,
  readTime,
  recipes: recipesBySentinels(openLocatedRedisPort),
  errors: REPLICATED_ERRORS,
  // A failover that is under way when the last fault heals: two seconds to notice, some to agree and to promote, and as
  // long again if the first attempt fails (failover-timeout).
  slackMillis: 12_000,
};

/** The recipes of this backend, on ports that are opened like this. */
export function recipesBySentinels(open: OpenRedisPort): readonly Recipe[] {
  return recipesOnPrimary(open, ({ servers, commandTimeLimit }) => {
    const sentinels = servers.filter(({ name }) => isSentinel(name));
    return primaryBySentinels(sentinels, commandTimeLimit, open);
  });
}
