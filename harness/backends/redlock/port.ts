// What a Redlock recipe stands on: several independent Redis servers, each behind the port of `redis/`. It must not
// know how they are reached.

import type { LockClient, Recipe } from '../../contract/lock-client.ts';
import type { Nanos } from '../../history/op.ts';
import type { RedisPort } from '../redis/port.ts';

export interface RedlockNode {
  readonly name: string;
  /** With a time limit far below the TTL: a server that does not answer must not eat up the lease. */
  readonly redis: RedisPort;
}

/** Whoever opened the ports closes them. */
export interface RedlockRecipe extends Omit<Recipe, 'open'> {
  lockClient(nodes: readonly RedlockNode[], now: () => Nanos): Omit<LockClient, keyof AsyncDisposable>;
}
