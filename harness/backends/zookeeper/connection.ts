// The real ZooKeeper port: one session at a time, and a new one when the old one has ended, because the library's client
// is of no use after that.

import type { Outcome } from '../../contract/lock-client.ts';
import type { Millis } from '../../history/op.ts';
import type { ZooKeeperPort } from './port.ts';
import { openSession, type RealSession, type SessionOptions } from './session.ts';

export function openZooKeeperPort(options: Omit<SessionOptions, 'timeoutMillis'>): ZooKeeperPort {
  let current: RealSession | undefined;
  let opening: Promise<Outcome<RealSession>> | undefined;

  const open = async (timeoutMillis: Millis): Promise<Outcome<RealSession>> => {
    const opened = await openSession({ ...options, timeoutMillis });
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
}
