// One session with a simulated PostgreSQL server, in the place of the driver `pg`: what a client may conclude is that of
// `postgres/session.ts`. Statements are pipelined; one without an answer in time is `info` and ends the session.

import type { Outcome } from '../../contract/lock-client.ts';
import type { OpenSession, Row } from '../../postgres/session.ts';
import type { Socket } from '../network.ts';
import type { Machine } from '../program.ts';

export function simulatedSessions({ process, network, spec, nodeAt }: Machine): OpenSession {
  return ({ host, commandTimeLimit, rowWaitMillis }) => {
    const { promise: end, resolve: noteEnd } = Promise.withResolvers<void>();
    const { promise: opened, resolve: noteOpened } = Promise.withResolvers<boolean>();
    let ended = false;
    let socket: Socket | undefined;
    let waiting: ((outcome: Outcome<readonly Row[]>) => void)[] = [];
    const endNow = (): void => {
      ended = true;
      socket?.close();
      noteOpened(false);
      noteEnd();
      for (const settle of waiting.splice(0)) settle({ kind: 'info', error: 'connection-lost' });
    };
    const cancelOpening = process.after(commandTimeLimit, endNow);
    network.connect(
      { node: spec.name, process },
      nodeAt(host) ?? host,
      {
        message(message) {
          if (message.kind === 'sql ready') {
            cancelOpening();
            noteOpened(true);
          } else if (message.kind === 'sql rows') waiting.shift()?.({ kind: 'ok', value: message.rows });
          else if (message.kind === 'sql error')
            waiting.shift()?.({ kind: 'fail', error: `sqlstate-${message.state}` });
        },
        closed: endNow,
      },
      (connected) => {
        if (connected === undefined) return endNow();
        if (ended) return connected.close();
        socket = connected;
        const limits = rowWaitMillis === undefined ? {} : { lockTimeLimitMillis: rowWaitMillis };
        connected.send({ kind: 'sql startup', ...limits });
      },
    );
    return {
      end,
      get ended() {
        return ended;
      },
      async query(name, _statement, values) {
        if (!(await opened) || ended) {
          endNow();
          return { kind: 'fail', error: 'unavailable' };
        }
        return new Promise((resolve) => {
          const settle = (outcome: Outcome<readonly Row[]>): void => {
            cancel();
            if (outcome.kind === 'info') endNow();
            resolve(outcome);
          };
          const cancel = process.after(commandTimeLimit, () => {
            waiting = waiting.filter((other) => other !== settle);
            settle({ kind: 'info', error: 'timeout' });
          });
          waiting.push(settle);
          socket?.send({ kind: 'sql', name, values });
        });
      },
      cut: endNow,
      [Symbol.asyncDispose]: async () => endNow(),
    };
  };
}
