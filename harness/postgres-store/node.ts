// The store's node: which program runs, and how the coordinator prepares it before any client connects.

import type { Node, NodeSpec } from '../contract/cluster.ts';
import { HarnessError } from '../contract/errors.ts';
import { millis } from '../history/op.ts';
import { SCHEMA_SQL } from './schema.ts';

const STORE_PORT = 5432;
export const STORE_USER = 'lockpick';
export const STORE_DATABASE = 'lockpick';

const SCHEMA_TIME_LIMIT = millis(20_000);
const CONNECT_ARGUMENTS = [
  '-h',
  '127.0.0.1',
  '-p',
  String(STORE_PORT),
  '-U',
  STORE_USER,
  '-d',
  STORE_DATABASE,
];

export function storeNode(): NodeSpec {
  return {
    name: 'store',
    role: 'store',
    image: 'postgres',
    port: STORE_PORT,
    ready: { kind: 'exec', command: ['pg_isready', '-q', ...CONNECT_ARGUMENTS] },
  };
}

/** Creates tables and functions in a ready store; safe to repeat. Throws HarnessError('environment'). */
export async function prepareStore(store: Pick<Node, 'exec'>): Promise<void> {
  const { exitCode, stderr } = await store.exec(
    ['psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', ...CONNECT_ARGUMENTS, '-c', SCHEMA_SQL],
    SCHEMA_TIME_LIMIT,
  );
  if (exitCode !== 0)
    throw new HarnessError('environment', `the store refused its schema (psql exit code ${exitCode})`, {
      detail: stderr,
    });
}
