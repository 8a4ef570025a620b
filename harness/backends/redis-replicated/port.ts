// What a recipe for a replicated Redis stands on: a port to the primary, whoever that is, and how many replicas there
// are to wait for. Every recipe for one server is one for a group as well. It must not know how the primary is found.

import type { LockClient, Recipe } from '../../contract/lock-client.ts';
import type { Millis, Nanos } from '../../history/op.ts';
import type { RedisPort } from '../redis/port.ts';

export interface ReplicatedGroup {
  readonly replicas: number;
  /** How long to wait for replicas; shorter than the time limit of a command. */
  readonly waitMillis: Millis;
}

/** Whoever opened the port closes it. */
export interface ReplicatedRecipe extends Omit<Recipe, 'open'> {
  lockClient(
    primary: RedisPort,
    now: () => Nanos,
    group: ReplicatedGroup,
  ): Omit<LockClient, keyof AsyncDisposable>;
}
