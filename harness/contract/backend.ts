// A lock service as lockpick sees it: which servers to start, which recipes use it as a lock, and what its errors
// mean. One folder under `backends/` implements it; `backends/index.ts` names them all. Interfaces only.

import type { NodeSpec } from './cluster.ts';
import type { ErrorMeaning, Recipe } from './lock-client.ts';

export interface Backend {
  readonly name: string;
  /** One line for people: what runs. */
  readonly topology: string;
  /** The lock servers of a cluster, in start order. */
  servers(options: { readonly persistence: boolean }): readonly NodeSpec[];
  readonly recipes: readonly Recipe[];
  readonly errors: readonly ErrorMeaning[];
  /** Within how many milliseconds past the TTL an abandoned lock can be had again, documented or by design. */
  readonly slackMillis: number;
}
