// The backend `postgres`: a PostgreSQL server used as a lock service, which many have anyway. It is not the store (I8):
// that one runs in a container of its own. Puts the recipes on real sessions; knows the server's flags and its table.

import type { Backend } from '../../contract/backend.ts';
import { HarnessError } from '../../contract/errors.ts';
import type { Recipe } from '../../contract/lock-client.ts';
import { LOCKPICK, postgresNode, tellPostgres } from '../../postgres/server-node.ts';
import { openSession, POSTGRES_ERRORS, type OpenSession } from '../../postgres/session.ts';
import { versionIn } from '../version-in.ts';
import type { PostgresRecipe } from './port.ts';
import { advisoryLock } from './recipes/advisory-lock.ts';
import { leaseRow, LEASE_TABLE } from './recipes/lease-row.ts';

const TIME_OF_DAY = 'SELECT extract(epoch FROM clock_timestamp()) * 1000';

const POSTGRES_RECIPES: readonly PostgresRecipe[] = [advisoryLock, leaseRow];

export const postgres: Backend = {
  name: 'postgres',
  topology: 'one PostgreSQL server, apart from the store',
  // The image is tuned for a store that nobody kills. What is committed here must survive the end of the server.
  servers: () => [postgresNode('p1', 'server', ['-c', 'synchronous_commit=on'])],
  assemble: async (servers) => {
    for (const node of servers) await tellPostgres(node, LEASE_TABLE);
  },
  version: async (node) =>
    `postgres ${versionIn(node, await tellPostgres(node, 'SHOW server_version'), /^(\S+)/)}`,
  readTime: async (node) => {
    try {
      return Number(await tellPostgres(node, TIME_OF_DAY));
    } catch (error) {
      if (error instanceof HarnessError) return undefined;
      throw error;
    }
  },
  recipes: recipesOnSessions(openSession),
  errors: [
    ...POSTGRES_ERRORS,
    {
      match: 'session ended',
      error: 'session-ended',
      definite: false,
      meaning: 'The session that held the lock is over; the server ends the lock when it sees that.',
      source: 'PostgreSQL 17, "Advisory Locks": held until released or the session ends',
    },
  ],
  // A lease is over when its time has come; a session whose client died is over when the server reads the end of its
  // connection. The rest is for a client that polls on a busy machine.
  slackMillis: 1000,
};

/** The recipes of this backend, on sessions that are begun like this. */
export function recipesOnSessions(open: OpenSession): readonly Recipe[] {
  return POSTGRES_RECIPES.map((recipe) => ({
    ...recipe,
    open: (context) => {
      const [only] = context.servers;
      if (only === undefined) throw new Error(`${recipe.name} needs a server`);
      const { host, port } = only;
      const { commandTimeLimit } = context;
      const address = { host, port, user: LOCKPICK, database: LOCKPICK, commandTimeLimit };
      return recipe.lockClient({ open: () => open(address) }, context);
    },
  }));
}
