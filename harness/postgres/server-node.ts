// A PostgreSQL server as a node, be it the store or a lock service: user, database, how it is asked whether it serves,
// and how the coordinator tells it something. Ours has its cluster built in; the official image makes one at its first
// start, from the environment, and answers on its socket only until that is done.

import type { Node, NodeRole, NodeSpec } from '../contract/cluster.ts';
import { HarnessError } from '../contract/errors.ts';
import { millis } from '../history/op.ts';

/** User and database. */
export const LOCKPICK = 'lockpick';
const PORT = 5432;
const STATEMENT_TIME_LIMIT = millis(20_000);
const CONNECT_ARGUMENTS = ['-h', '127.0.0.1', '-p', String(PORT), '-U', LOCKPICK, '-d', LOCKPICK];

export function postgresNode(name: string, role: NodeRole, command?: readonly string[]): NodeSpec {
  return {
    name,
    role,
    image: 'postgres',
    environment: {
      POSTGRES_USER: LOCKPICK,
      POSTGRES_DB: LOCKPICK,
      POSTGRES_HOST_AUTH_METHOD: 'trust',
    },
    ...(command !== undefined && { command }),
    port: PORT,
    ready: { kind: 'exec', command: ['pg_isready', '-q', ...CONNECT_ARGUMENTS] },
  };
}

/** What it answers to SQL, without decoration. Throws HarnessError('environment') if it refuses. */
export async function tellPostgres({ exec }: Pick<Node, 'exec'>, sql: string): Promise<string> {
  const command = ['psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', ...CONNECT_ARGUMENTS, '-c', sql];
  const { exitCode, stdout, stderr } = await exec(command, STATEMENT_TIME_LIMIT);
  if (exitCode === 0) return stdout;
  throw new HarnessError(
    'environment',
    `a PostgreSQL server refused what it was told (psql exit code ${exitCode})`,
    {
      detail: stderr,
    },
  );
}
