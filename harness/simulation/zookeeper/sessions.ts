// How the leader of a simulated ZooKeeper ensemble keeps the time of sessions: in intervals of one tick, so that a session
// ends up to a tick late; and which server a session is with. None of it is in the log: a new leader begins with every
// session in full. Sources: ZooKeeper 3.9, ExpiryQueue, SessionTrackerImpl.

/** Times are those of the leader, in nanoseconds. */
export interface SessionTimes {
  /** Begins anew, with those sessions and their time-outs in milliseconds. */
  restart(now: number, sessions: ReadonlyMap<string, number>): void;
  open(now: number, session: string, timeoutMillis: number): void;
  /** It was heard. False: it is over, or there is no such session. */
  touch(now: number, session: string): boolean;
  has(session: string): boolean;
  /** Whether the session is with that server; it is with the first that this is asked of. */
  isWith(server: string, session: string): boolean;
  /** It has moved there. */
  move(server: string, session: string): void;
  forget(session: string): void;
  /** Those that are over, each told once. */
  over(now: number): readonly string[];
}

interface Session {
  readonly timeoutMillis: number;
  /** The end of the interval in which it ends. */
  end: number;
  server: string | undefined;
}

export function openSessionTimes(tickMillis: number): SessionTimes {
  const tick = tickMillis * 1e6;
  const sessions = new Map<string, Session>();
  const endAfter = (now: number, timeoutMillis: number): number =>
    (Math.floor((now + timeoutMillis * 1e6) / tick) + 1) * tick;
  const open: SessionTimes['open'] = (now, session, timeoutMillis) =>
    void sessions.set(session, { timeoutMillis, end: endAfter(now, timeoutMillis), server: undefined });
  return {
    restart(now, known) {
      sessions.clear();
      for (const [session, timeoutMillis] of known) open(now, session, timeoutMillis);
    },
    open,
    touch(now, name) {
      const session = sessions.get(name);
      if (session === undefined) return false;
      session.end = Math.max(session.end, endAfter(now, session.timeoutMillis));
      return true;
    },
    has: (session) => sessions.has(session),
    isWith(server, name) {
      const session = sessions.get(name);
      if (session === undefined) return false;
      session.server ??= server;
      return session.server === server;
    },
    move(server, name) {
      const session = sessions.get(name);
      if (session !== undefined) session.server = server;
    },
    forget: (session) => void sessions.delete(session),
    over(now) {
      const found = [...sessions].filter(([, { end }]) => end <= now).map(([session]) => session);
      for (const session of found) sessions.delete(session);
      return found;
    },
  };
}
