// The users' adapters inside a client program. Empty here: `bundle.ts` puts a module in its place that imports those of
// the plan, so the program has the user's code and his libraries in it.

import type { Adapter } from '../contract/adapter.ts';

export const adapters: readonly Adapter[] = [];
