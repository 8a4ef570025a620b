// A user's own lock library as lockpick sees it: a recipe that names the lock service it runs against. A module that
// exports one as `adapter` is all that `--adapter ./my-lock.ts` needs. Interfaces only.

import type { Recipe } from './lock-client.ts';

export interface Adapter extends Omit<Recipe, 'register' | 'flaw'> {
  /** The lock service: one of the names in `lockpick list`, such as `redis-single`. */
  readonly backend: string;
  /** Fault → the grade that is right under it; of others nothing is expected, and any finding is a violation. */
  readonly expected?: Readonly<Record<string, 'safe' | 'safe-with-fencing' | 'unsafe'>>;
}
