// A ZooKeeper port over whatever speaks to an ensemble: one session at a time, and a new one when the old one has ended.
// Knows no library.

import type { Timer } from '../../clock.ts';
import type { Outcome } from '../../contract/lock-client.ts';
import type { Millis } from '../../history/op.ts';
import type { ZooKeeperPort } from './port.ts';
import { openSession, type OpenedSession, type SessionOptions } from './session.ts';
import type { OpenWire } from './wire.ts';

/** How a port to an ensemble is opened. */
export type OpenZooKeeperPort = (
  options: Pick<SessionOptions, 'servers' | 'timeLimit' | 'clock'>,
) => ZooKeeperPort;

export function portsOver(openWire: OpenWire, timer: Timer): OpenZooKeeperPort {
  return (options) => {
    let current: OpenedSession | undefined;
    let opening: Promise<Outcome<OpenedSession>> | undefined;

    const open = async (timeoutMillis: Millis): Promise<Outcome<OpenedSession>> => {
      const opened = await openSession({ ...options, openWire, timer, timeoutMillis });
      if (opened.kind === 'ok') current = opened.value;
      opening = undefined;
      return opened;
    };

    return {
      session: async (timeoutMillis) => {
        if (current?.live === true) return { kind: 'ok', value: current };
        opening ??= open(timeoutMillis);
        return await opening;
      },
      [Symbol.asyncDispose]: async () => {
        await opening;
        await current?.close();
      },
    };
  };
}
