// A Redis port over whatever carries commands to one server: ioredis (`connection.ts`), or a simulated connection. Here
// is what a recipe relies on: the connection is opened when needed, a command without an answer in time is `info` and
// ends it, nothing is ever sent twice. Knows no driver.

import type { Timer } from '../../clock.ts';
import type { Outcome } from '../../contract/lock-client.ts';
import type { Millis } from '../../history/op.ts';
import { NOT_CONNECTED, outcomeOf, outcomeOfError, READ_ONLY, TIMED_OUT } from './errors.ts';
import type { Command, RedisPort, RedisReply } from './port.ts';

const UNREADABLE: Outcome<never> = { kind: 'info', error: 'unexpected reply' };

/** Where a server is. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

/** Finds the server to connect to, within a time limit of its own; undefined: there is none at the moment. */
export type Locate = () => Promise<RedisAddress | undefined>;

/** One open connection. */
export interface RedisWire {
  /** A command can be written to it. */
  readonly isOpen: boolean;
  /** Writes it. Rejects with the server's error reply, or with what the driver says of the connection. */
  call(...words: Command): Promise<unknown>;
  /** Ends it at once, whatever is on its way. */
  destroy(): void;
  /** Ends it when nobody waits for anything. */
  close(): void;
}

/** Opens a connection, within the time limit; undefined: none came about. */
export type Dial = (server: RedisAddress, timeLimit: Millis) => Promise<RedisWire | undefined>;

/** How a port to whichever server `locate` finds is opened. */
export type OpenRedisPort = (locate: Locate, timeLimit: Millis) => RedisPort;

/**
 * Ports whose first command opens the connection; `timeLimit` bounds that and, apart from that, each command. `locate`
 * is asked again for each new connection, and a connection is given up when it breaks, when a command has no answer in
 * time, and when the server says that it is a replica.
 */
export function portsOver(dial: Dial, timer: Timer): OpenRedisPort {
  return (locate, timeLimit) => openPort(locate, timeLimit, { dial, timer });
}

function openPort(
  locate: Locate,
  timeLimit: Millis,
  { dial, timer }: { readonly dial: Dial; readonly timer: Timer },
): RedisPort {
  let opening: Promise<RedisWire | undefined> | undefined;
  let current: RedisWire | undefined;

  const open = async (): Promise<RedisWire | undefined> => {
    const server = await locate();
    return server === undefined ? undefined : await dial(server, timeLimit);
  };

  /** A connection that was open a moment ago. */
  const connected = async (): Promise<RedisWire | undefined> => {
    if (current?.isOpen === true) return current;
    opening ??= open().finally(() => (opening = undefined));
    current = await opening;
    return current;
  };

  const giveUp = (wire: RedisWire): void => {
    if (current === wire) current = undefined;
    wire.destroy();
  };

  const send = (wire: RedisWire, words: Command): Promise<Outcome<RedisReply>> =>
    new Promise((resolve) => {
      const cancel = timer(timeLimit, () => {
        giveUp(wire);
        resolve(outcomeOf(TIMED_OUT));
      });
      const settle = (outcome: Outcome<RedisReply>): void => {
        cancel();
        if (outcome.kind === 'info' || isReplica(outcome)) giveUp(wire);
        resolve(outcome);
      };
      wire.call(...words).then(
        (reply) => settle(isReply(reply) ? { kind: 'ok', value: reply } : UNREADABLE),
        (error: unknown) => settle(outcomeOfError(error)),
      );
    });

  const sequence: RedisPort['sequence'] = async (...commands) => {
    const wire = await connected();
    // Asked again right before writing: a closed connection rejects with the words it also has for a command in flight.
    if (wire?.isOpen !== true) return commands.map(() => outcomeOf(NOT_CONNECTED));
    return Promise.all(commands.map((words) => send(wire, words)));
  };

  /** Command → whether the server of this connection has it. */
  const offered = new WeakMap<RedisWire, Map<string, Promise<boolean>>>();
  const ask = async (wire: RedisWire, name: string): Promise<boolean> => {
    const reply = await send(wire, ['COMMAND', 'INFO', name]);
    return reply.kind === 'ok' && Array.isArray(reply.value) && reply.value[0] !== null;
  };

  const offersAt = async (name: string): Promise<boolean> => {
    const wire = await connected();
    if (wire?.isOpen !== true) return false;
    const answers = offered.get(wire) ?? new Map<string, Promise<boolean>>();
    offered.set(wire, answers);
    const answer = answers.get(name) ?? ask(wire, name);
    answers.set(name, answer);
    return answer;
  };

  return {
    sequence,
    offers: (name) =>
      (current?.isOpen === true ? offered.get(current)?.get(name) : undefined) ?? offersAt(name),
    command(...words) {
      return current?.isOpen === true
        ? send(current, words)
        : sequence(words).then(([outcome = outcomeOf(NOT_CONNECTED)]) => outcome);
    },
    [Symbol.asyncDispose]: async () => {
      const wire = current ?? (await opening);
      wire?.close();
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
