// How a client without Sentinel finds the primary: it asks every server it knows for its role, and takes the first that
// says it leads. Whoever promotes a server must see to it that no other one that leads can be reached.

import type { Millis } from '../../history/op.ts';
import type { Locate, OpenRedisPort, RedisAddress } from '../redis/port-over.ts';

/** `timeLimit` bounds each question. */
export function primaryAmong(
  servers: readonly RedisAddress[],
  timeLimit: Millis,
  open: OpenRedisPort,
): Locate {
  return async () => {
    const answers = servers.map(async (server) => ((await leads(server, timeLimit, open)) ? [server] : []));
    const found = await Promise.all(answers);
    return found.flat()[0];
  };
}

/** Whether the server says of itself that it is a primary. */
export async function leads(server: RedisAddress, timeLimit: Millis, open: OpenRedisPort): Promise<boolean> {
  await using redis = open(() => Promise.resolve(server), timeLimit);
  const reply = await redis.command('ROLE');
  return reply.kind === 'ok' && Array.isArray(reply.value) && reply.value[0] === 'master';
}
