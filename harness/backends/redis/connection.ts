// The real Redis connection: ioredis, with what the driver does on its own switched off. It never resends, never queues
// while disconnected and never reconnects by itself; a resent `SET NX` would run twice and report "busy" while the first
// one's value holds the key. Time limits are ours (`port-over.ts`), because the driver's own rejects the promise but
// leaves the command to act later (a ghost lock).

import { Redis } from 'ioredis';
import { machineTimer } from '../../clock.ts';
import type { Millis } from '../../history/op.ts';
import type { RedisPort } from './port.ts';
import { portsOver, type Dial, type RedisAddress } from './port-over.ts';

const dial: Dial = async (server, timeLimit) => {
  const redis = new Redis({
    host: server.host,
    port: server.port,
    lazyConnect: true,
    connectTimeout: timeLimit,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    retryStrategy: () => null,
    maxRetriesPerRequest: null,
    // RESP2 and no greeting: connecting is one TCP handshake, and the first bytes sent are the first command.
    protocol: 2,
    disableClientInfo: true,
    enableReadyCheck: false,
  });
  // Without a listener the driver prints to stderr; what an error means is told by the command it hits.
  redis.on('error', () => undefined);
  try {
    await redis.connect();
  } catch {
    return undefined;
  }
  return {
    get isOpen() {
      return redis.status === 'ready';
    },
    call: (name, ...args) => redis.call(name, ...args),
    // Not `disconnect()`, which says goodbye first and waits two seconds for an answer.
    destroy: () => void redis.stream.destroy(),
    close: () => redis.disconnect(),
  };
};

/** Over ioredis. */
export const openLocatedRedisPort = portsOver(dial, machineTimer);

/** A port to one server. */
export function openRedisPort(server: RedisAddress, timeLimit: Millis): RedisPort {
  return openLocatedRedisPort(() => Promise.resolve(server), timeLimit);
}
