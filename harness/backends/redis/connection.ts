// The real Redis port: one server over ioredis, with what the driver does on its own switched off. It never resends,
// never queues while disconnected and never reconnects by itself; a resent `SET NX` would run twice and report "busy"
// while the first one's value holds the key. The time limit is ours, because the driver's own rejects the promise but
// leaves the command to act later (a ghost lock): past it the outcome is `info` and the connection is destroyed.

import { Redis } from 'ioredis';
import type { Outcome } from '../../contract/lock-client.ts';
import type { Millis } from '../../history/op.ts';
import { NOT_CONNECTED, outcomeOf, outcomeOfError, READ_ONLY, TIMED_OUT } from './errors.ts';
import type { RedisPort, RedisReply } from './port.ts';

const UNREADABLE: Outcome<never> = { kind: 'info', error: 'unexpected reply' };

/** Where a server is. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

/** Finds the server to connect to, within a time limit of its own; undefined: there is none at the moment. */
export type Locate = () => Promise<RedisAddress | undefined>;

/**
 * A port to one server; the first command opens the connection. `timeLimit` bounds opening a connection and, apart
 * from that, each command.
 */
export function openRedisPort(server: RedisAddress, timeLimit: Millis): RedisPort {
  return openLocatedRedisPort(() => Promise.resolve(server), timeLimit);
}

/**
 * A port to whichever server `locate` finds. It is asked again for each new connection, and a connection is given up
 * when it breaks, when a command has no answer in time, and when the server says that it is a replica.
 */
export function openLocatedRedisPort(locate: Locate, timeLimit: Millis): RedisPort {
  let opening: Promise<Redis | undefined> | undefined;
  let current: Redis | undefined;

  const open = async (): Promise<Redis | undefined> => {
    const server = await locate();
    if (server === undefined) return undefined;
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
      return redis;
    } catch {
      return undefined;
    }
  };

  /** A connection that was open a moment ago. */
  const connected = async (): Promise<Redis | undefined> => {
    if (current?.status === 'ready') return current;
    opening ??= open().finally(() => (opening = undefined));
    current = await opening;
    return current;
  };

  const giveUp = (redis: Redis): void => {
    if (current === redis) current = undefined;
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
        if (outcome.kind === 'info' || isReplica(outcome)) giveUp(redis);
        resolve(outcome);
      };
      redis.call(name, ...args).then(
        (reply) => settle(isReply(reply) ? { kind: 'ok', value: reply } : UNREADABLE),
        (error: unknown) => settle(outcomeOfError(error)),
      );
    });

  const sequence: RedisPort['sequence'] = async (...commands) => {
    const redis = await connected();
    // Asked again right before writing: a closed connection rejects with the words it also has for a command in flight.
    if (redis?.status !== 'ready') return commands.map(() => outcomeOf(NOT_CONNECTED));
    return Promise.all(commands.map(([name, ...args]) => send(redis, name, args)));
  };

  /** Command → whether the server of this connection has it. */
  const offered = new WeakMap<Redis, Map<string, Promise<boolean>>>();
  const ask = async (redis: Redis, name: string): Promise<boolean> => {
    const reply = await send(redis, 'COMMAND', ['INFO', name]);
    return reply.kind === 'ok' && Array.isArray(reply.value) && reply.value[0] !== null;
  };

  return {
    sequence,
    async offers(name) {
      const redis = await connected();
      if (redis?.status !== 'ready') return false;
      const answers = offered.get(redis) ?? new Map<string, Promise<boolean>>();
      offered.set(redis, answers);
      const answer = answers.get(name) ?? ask(redis, name);
      answers.set(name, answer);
      return answer;
    },
    async command(...words) {
      const [outcome = outcomeOf(NOT_CONNECTED)] = await sequence(words);
      return outcome;
    },
    [Symbol.asyncDispose]: async () => {
      const redis = current ?? (await opening);
      redis?.disconnect();
    },
  };
}

function isReplica(outcome: Outcome<RedisReply>): boolean {
  return outcome.kind === 'fail' && outcome.error === READ_ONLY.error;
}

function isReply(value: unknown): value is RedisReply {
  return (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'number' ||
    (Array.isArray(value) && value.every(isReply))
  );
}
