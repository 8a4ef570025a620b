// What a user's project imports from `lockpick`: the types of a config file and of an adapter, and the few functions
// that make their values. Everything else is the command's own and may change.

import type { Config } from './settings/config.ts';

export type { Config } from './settings/config.ts';
export type { Adapter } from './contract/adapter.ts';
export type {
  Acquired,
  AcquireRequest,
  Grant,
  LockClient,
  Outcome,
  RecipeContext,
} from './contract/lock-client.ts';
export { fencingToken, nanos, nanosOf } from './history/op.ts';
export type { FencingToken, Millis, Nanos } from './history/op.ts';

/** Types a config file: `export default defineConfig({ … })` in `lockpick.config.ts`. */
export function defineConfig(config: Config): Config {
  return config;
}
