// The registry of backends: one line for each. A new backend is a folder here and a line in this list.

import type { Backend } from '../contract/backend.ts';
import { etcd } from './etcd/server.ts';
import { postgres } from './postgres/server.ts';
import { redisReplicated } from './redis-replicated/server.ts';
import { redisSentinel } from './redis-sentinel/server.ts';
import { redisSingle } from './redis/server.ts';
import { redlockBackend } from './redlock/server.ts';
import { zookeeper } from './zookeeper/server.ts';

export const backends: readonly Backend[] = [
  redisSingle,
  redisReplicated,
  redisSentinel,
  redlockBackend,
  etcd,
  zookeeper,
  postgres,
];
