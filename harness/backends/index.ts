// The registry of backends: one line for each. A new backend is a folder here and a line in this list.

import type { Backend } from '../contract/backend.ts';
import { redisSingle } from './redis/server.ts';
import { redlockBackend } from './redlock/server.ts';

export const backends: readonly Backend[] = [redisSingle, redlockBackend];
