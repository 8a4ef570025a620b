// The library's connection as the session sees it: whether there is one, a way to drop it that the library does not
// offer, and a time limit on the handshake, without which it hangs on a server that takes connections and says nothing.

import type { Client } from 'node-zookeeper-client';
import type { Millis } from '../../history/op.ts';

export interface WatchedConnection {
  /** Whether there is a connection, or will be within the limit. */
  within(timeLimit: Millis): Promise<boolean>;
  /** Settles when the present connection has ended. */
  broken(): Promise<void>;
  /** Ends the present connection; the library goes on with the next server. */
  drop(): void;
  /** Asks the server to end the session, and the library not to connect again. */
  goodbye(): void;
  /** Ends everything. */
  stop(): void;
}

/** To be called before `client.connect()`. `handshakeLimit`: how long one server may take. */
export function watchConnection(client: Client, handshakeLimit: Millis): WatchedConnection {
  let connected = false;
  let stopped = false;
  let watchdog: NodeJS.Timeout | undefined;
  const waiting = new Set<(connected: boolean) => void>();
  const onBroken = new Set<() => void>();

  const tell = (answer: boolean): void => {
    for (const resolve of waiting) resolve(answer);
    waiting.clear();
  };
  const watch = (): void => {
    clearInterval(watchdog);
    watchdog = setInterval(() => destroySocket(client), handshakeLimit);
  };

  client.on('connected', () => {
    connected = true;
    clearInterval(watchdog);
    tell(true);
  });
  client.on('disconnected', () => {
    connected = false;
    if (!stopped) watch();
    for (const resolve of onBroken) resolve();
    onBroken.clear();
  });
  watch();

  return {
    within: (timeLimit) =>
      connected || stopped
        ? Promise.resolve(connected && !stopped)
        : new Promise((resolve) => {
            const timer = setTimeout(() => {
              waiting.delete(settle);
              resolve(false);
            }, timeLimit);
            const settle = (answer: boolean): void => {
              clearTimeout(timer);
              resolve(answer);
            };
            waiting.add(settle);
          }),
    broken: () =>
      connected
        ? new Promise((resolve) => {
            onBroken.add(resolve);
          })
        : Promise.resolve(),
    drop: () => destroySocket(client),
    goodbye: () => sayGoodbye(client),
    stop() {
      stopped = true;
      clearInterval(watchdog);
      // Else the library would connect again and prolong a session that nobody uses.
      sayGoodbye(client);
      destroySocket(client);
      tell(false);
    },
  };
}

/** `close` writes to a socket that the library may not have yet, and throws. */
function sayGoodbye(client: Client): void {
  try {
    client.close();
  } catch {
    // Without a socket there is nobody to say it to.
  }
}

/** The socket is the library's own and not part of its interface; nothing else ends a connection and keeps the session. */
function destroySocket(client: Client): void {
  const manager: unknown = Reflect.get(client, 'connectionManager');
  const socket: unknown =
    typeof manager === 'object' && manager !== null ? Reflect.get(manager, 'socket') : undefined;
  if (hasDestroy(socket)) socket.destroy();
}

function hasDestroy(value: unknown): value is { destroy(): void } {
  return (
    typeof value === 'object' && value !== null && 'destroy' in value && typeof value.destroy === 'function'
  );
}
