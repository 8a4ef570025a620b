// How a client finds the primary through Sentinels ("Guidelines for Redis clients with support for Redis Sentinel",
// Redis documentation): ask them, take the first answer, and check with the server itself that it leads. All are asked
// at once, so that one that hangs costs nothing.

import type { Millis } from '../../history/op.ts';
import type { Locate, OpenRedisPort, RedisAddress } from '../redis/port-over.ts';
import { leads } from '../redis-replicated/primary.ts';
import { GROUP } from './sentinels.ts';

/** `timeLimit` bounds each question. undefined is found: no Sentinel knows, or who it names does not lead (yet). */
export function primaryBySentinels(
  sentinels: readonly RedisAddress[],
  timeLimit: Millis,
  open: OpenRedisPort,
): Locate {
  return async () => {
    const named = await firstNamed(sentinels, timeLimit, open);
    return named !== undefined && (await leads(named, timeLimit, open)) ? named : undefined;
  };
}

async function firstNamed(
  sentinels: readonly RedisAddress[],
  timeLimit: Millis,
  open: OpenRedisPort,
): Promise<RedisAddress | undefined> {
  const answers = sentinels.map(async (sentinel) => {
    await using redis = open(() => Promise.resolve(sentinel), timeLimit);
    const reply = await redis.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', GROUP);
    const [host, port] = reply.kind === 'ok' && Array.isArray(reply.value) ? reply.value : [];
    if (typeof host !== 'string' || typeof port !== 'string') throw new Error('it names nobody');
    return { host, port: Number(port) };
  });
  try {
    return await Promise.any(answers);
  } catch {
    return undefined;
  }
}
