// A wire's connection as the session sees it: whether there is one, and a time limit on the handshake, without which the
// library hangs on a server that takes connections and says nothing.

import type { Timer } from '../../clock.ts';
import type { Millis } from '../../history/op.ts';
import type { ZooKeeperWire } from './wire.ts';

export interface WatchedConnection {
  /** Whether there is a connection, or will be within the limit. */
  within(timeLimit: Millis): Promise<boolean>;
  /** Settles when the present connection has ended. */
  broken(): Promise<void>;
  /** Ends everything. */
  stop(): void;
}

/** To be called before `wire.connect()`. `handshakeLimit`: how long one server may take. */
export function watchConnection(
  wire: ZooKeeperWire,
  timer: Timer,
  handshakeLimit: Millis,
): WatchedConnection {
  let connected = false;
  let stopped = false;
  let stopWatching: (() => void) | undefined;
  const waiting = new Set<(connected: boolean) => void>();
  const onBroken = new Set<() => void>();

  const tell = (answer: boolean): void => {
    for (const resolve of waiting) resolve(answer);
    waiting.clear();
  };
  const watch = (): void => {
    stopWatching?.();
    stopWatching = timer(handshakeLimit, () => {
      watch();
      wire.drop();
    });
  };

  wire.on('connected', () => {
    connected = true;
    stopWatching?.();
    tell(true);
  });
  wire.on('disconnected', () => {
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
            const cancel = timer(timeLimit, () => {
              waiting.delete(settle);
              resolve(false);
            });
            const settle = (answer: boolean): void => {
              cancel();
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
    stop() {
      stopped = true;
      stopWatching?.();
      // Else the library would connect again and prolong a session that nobody uses.
      wire.goodbye();
      wire.drop();
      tell(false);
    },
  };
}
