// The store's node: which program runs, and how the coordinator prepares it before any client connects.

import type { Node, NodeSpec } from '../contract/cluster.ts';
import { postgresNode, tellPostgres } from '../postgres/server-node.ts';
import { SCHEMA_SQL } from './schema.ts';

export function storeNode(): NodeSpec {
  return postgresNode('store', 'store');
}

/** Creates tables and functions in a ready store; safe to repeat. Throws HarnessError('environment'). */
export async function prepareStore(store: Pick<Node, 'exec'>): Promise<void> {
  await tellPostgres(store, SCHEMA_SQL);
}
