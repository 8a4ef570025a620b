// One ZooKeeper session over a wire, with what the library node-zookeeper-client lacks (read in 1.1.3): it never notices
// that a server has fallen silent, neither in the handshake nor later, so it is "connected" long after its session is
// gone; it holds requests back while disconnected and sends them on when their caller has long given up; and it never
// calls back for requests that were held back when the session expired. So: every request has a time limit, past which
// the connection is dropped; nothing is handed over without a connection; a heartbeat of ours tells when we were last
// heard; and a deadline counted from that ends the session for this client, whatever the wire thinks.

import type { Clock, Timer } from '../../clock.ts';
import type { Outcome } from '../../contract/lock-client.ts';
import { millis, nanos, nanosOf, type Millis, type Nanos } from '../../history/op.ts';
import { watchDeadline, type Deadline } from '../deadline.ts';
import {
  isAnswer,
  NO_NODE,
  NOT_CONNECTED,
  outcomeOf,
  outcomeOfError,
  SESSION_ENDED,
  TIMED_OUT,
} from './errors.ts';
import type { NodeStat, SessionEnd, ZooKeeperSession } from './port.ts';
import { watchConnection } from './watch-connection.ts';
import type { Answer, OpenWire, Server } from './wire.ts';

export interface SessionOptions {
  readonly openWire: OpenWire;
  readonly timer: Timer;
  readonly servers: readonly Server[];
  readonly timeoutMillis: Millis;
  /** Of each request, and of finding a server for it. */
  readonly timeLimit: Millis;
  readonly clock: Clock;
}

export interface OpenedSession extends ZooKeeperSession {
  /** Says goodbye, so that its nodes go at once. */
  close(): Promise<void>;
}

/** A heartbeat three times in a session's time-out, as the libraries have it. */
const HEARTBEATS = 3;
/** The library waits up to this long between two rounds through the servers. */
const SPIN_MILLIS = 50;
const GOODBYE_MILLIS = 500;
/** No node: asked about to be heard, and removed to write without an effect. */
const NOWHERE = '/lockpick-nowhere';

/** Opens a session; `fail` if no server takes it within the time limit. */
export async function openSession(options: SessionOptions): Promise<Outcome<OpenedSession>> {
  const { servers, timeoutMillis, timeLimit, clock, timer } = options;
  const wire = await options.openWire(servers, { timeoutMillis, spinMillis: SPIN_MILLIS });
  const { promise: ended, resolve: tellEnd } = Promise.withResolvers<SessionEnd>();
  const connection = watchConnection(wire, timer, timeLimit);
  const over = new AbortController();
  let deadline: Deadline | undefined;

  const end = (reason: SessionEnd): void => {
    if (over.signal.aborted) return;
    over.abort();
    deadline?.[Symbol.dispose]();
    connection.stop();
    tellEnd(reason);
  };

  const heard = (sent: Nanos): void => {
    const until = nanos(sent + nanosOf(millis(wire.timeoutMillis)));
    deadline ??= watchDeadline(clock, until, () => end('deadline'));
    deadline.extendTo(until);
  };

  const ask = async <T>(
    send: (answer: Answer<T>) => void,
    limit: Millis = timeLimit,
  ): Promise<Outcome<T | undefined>> => {
    if (over.signal.aborted) return outcomeOf(SESSION_ENDED);
    if (!(await connection.within(limit)))
      return outcomeOf(over.signal.aborted ? SESSION_ENDED : NOT_CONNECTED);
    const sent = clock.now();
    return await new Promise((resolve) => {
      const cancel = timer(limit, () => {
        wire.drop();
        resolve(outcomeOf(TIMED_OUT));
      });
      send((error, value) => {
        cancel();
        if (error === null || error === undefined || isAnswer(error)) heard(sent);
        const outcome: Outcome<T | undefined> =
          error === null || error === undefined ? { kind: 'ok', value } : outcomeOfError(error);
        if (outcome.kind === 'info') wire.drop();
        resolve(outcome);
      });
    });
  };

  const beat = async (): Promise<void> => {
    // A server that does not answer is left in time for another one to be heard before the session is over.
    const limit = Math.min(timeLimit, wire.timeoutMillis / HEARTBEATS);
    await ask<NodeStat>((answer) => wire.exists(NOWHERE, answer), millis(limit));
  };

  const keepAlive = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await clock.sleep(millis(wire.timeoutMillis / HEARTBEATS), over.signal).catch(() => undefined);
      await beat();
    }
  };

  wire.on('expired', () => end('expired'));
  wire.on('connected', () => void beat());
  wire.connect();
  if (!(await connection.within(timeLimit))) {
    end('closed');
    return outcomeOf(NOT_CONNECTED);
  }
  await beat();
  if (deadline === undefined) {
    end('closed');
    return outcomeOf(NOT_CONNECTED);
  }
  void keepAlive();

  const remove = async (path: string): Promise<Outcome<{ readonly existed: boolean }>> => {
    const outcome = await ask((answer) => wire.remove(path, answer));
    if (outcome.kind === 'ok') return { kind: 'ok', value: { existed: true } };
    return outcome.error === NO_NODE.error ? { kind: 'ok', value: { existed: false } } : outcome;
  };

  return {
    kind: 'ok',
    value: {
      id: wire.sessionId,
      ended,
      get live() {
        return !over.signal.aborted;
      },
      get deadline() {
        return deadline?.at ?? nanos(0);
      },
      create: async (path, mode) => present(await ask<string>((answer) => wire.create(path, mode, answer))),
      children: async (path) =>
        present(await ask<readonly string[]>((answer) => wire.children(path, answer))),
      stat: (path) => ask<NodeStat>((answer) => wire.exists(path, answer)),
      remove,
      // The library has no `sync`. A write goes through the leader all the same, and what this server answers after it
      // has been applied is at least as new.
      sync: () => remove(NOWHERE),
      gone: async (path, limit) => {
        const { promise: changed, resolve } = Promise.withResolvers<void>();
        const asked = await ask((answer) => wire.watch(path, resolve, answer));
        if (asked.kind !== 'ok') return;
        const cancel = timer(limit, resolve);
        await Promise.race([changed, connection.broken(), ended]);
        cancel();
      },
      close: async () => {
        if (over.signal.aborted) return;
        wire.goodbye();
        await Promise.race([connection.broken(), clock.sleep(millis(GOODBYE_MILLIS))]);
        end('closed');
      },
    },
  };
}

/** Where there is an answer there is a value. */
function present<T>(outcome: Outcome<T | undefined>): Outcome<T> {
  if (outcome.kind !== 'ok') return outcome;
  return outcome.value === undefined
    ? { kind: 'info', error: 'unexpected reply' }
    : { kind: 'ok', value: outcome.value };
}
