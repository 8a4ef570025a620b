// What a PostgreSQL recipe stands on: sessions with one server. A session is what an advisory lock belongs to, so a
// recipe opens them itself. It must not know how a session is carried.

import type { LockClient, Recipe, RecipeContext } from '../../contract/lock-client.ts';
import type { PostgresSession } from '../../postgres/session.ts';

export interface PostgresPort {
  /** A new session, which its opener disposes. */
  open(): PostgresSession;
}

export interface PostgresRecipe extends Omit<Recipe, 'open'> {
  lockClient(postgres: PostgresPort, context: Pick<RecipeContext, 'now' | 'onLost'>): LockClient;
}
