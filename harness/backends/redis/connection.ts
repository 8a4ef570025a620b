// The real Redis port: one server over ioredis, with what the driver does on its own switched off. It never resends,
// never queues while disconnected and never reconnects by itself; a resent `SET NX` would run twice and report "busy"
// while the first one's value holds the key. The time limit is ours, because the driver's own rejects the promise but
// leaves the command to act later (a ghost lock): past it the outcome is `info` and the connection is destroyed.

import { Redis } from 'ioredis';
import type { Outcome } from '../../contract/lock-client.ts';
import type { Millis } from '../../history/op.ts';
import { NOT_CONNECTED, outcomeOf, outcomeOfError, TIMED_OUT } from './errors.ts';
import type { RedisPort, RedisReply } from './port.ts';

const UNREADABLE: Outcome<never> = { kind: 'info', error: 'unexpected reply' };

interface Connection {
  readonly redis: Redis;
  /** Settles once: it could be opened, or not. */
  readonly opened: Promise<boolean>;
}

/**
 * A port to one server; the first command opens the connection. `timeLimit` bounds opening a connection and, apart
 * from that, each command.
 */
export function openRedisPort(
  server: { readonly host: string; readonly port: number },
  timeLimit: Millis,
): RedisPort {
  let current: Connection | undefined;

  const open = (): Connection => {
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
    const opened = redis.connect().then(
      () => true,
      () => false,
    );
    return { redis, opened };
  };

  const giveUp = (redis: Redis): void => {
    if (current?.redis === redis) current = undefined;
    // Not `disconnect()`, which says goodbye first and waits two seconds for an answer.
    redis.stream.destroy();
  };

  const send = (
    redis: Redis,
    name: string,
    args: readonly (string | number)[],
  ): Promise<Outcome<RedisReply>> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => {
        giveUp(redis);
        resolve(outcomeOf(TIMED_OUT));
      }, timeLimit);
      const settle = (outcome: Outcome<RedisReply>): void => {
        clearTimeout(timer);
        if (outcome.kind === 'info') giveUp(redis);
        resolve(outcome);
      };
      redis.call(name, ...args).then(
        (reply) => settle(isReply(reply) ? { kind: 'ok', value: reply } : UNREADABLE),
        (error: unknown) => settle(outcomeOfError(error)),
      );
    });

  return {
    async command(name, ...args) {
      if (current === undefined || current.redis.status === 'end') current = open();
      const { redis, opened } = current;
      // Asked again right before writing: a closed connection rejects with the words it also has for a command in flight.
      if (!(await opened) || redis.status !== 'ready') return outcomeOf(NOT_CONNECTED);
      return send(redis, name, args);
    },
    [Symbol.asyncDispose]: async () => {
      current?.redis.disconnect();
    },
  };
}

function isReply(value: unknown): value is RedisReply {
  return (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'number' ||
    (Array.isArray(value) && value.every(isReply))
  );
}
