// One session with a PostgreSQL server, which both the store and the lock service stand on. Statements are prepared,
// pipelined, and each its own transaction, unless one of them begins a longer one. Past the time limit the outcome is `info` and the session is ended by
// destroying its connection, since the statement may still run; a session that has ended stays ended.

import { Socket } from 'node:net';
import { Client, DatabaseError } from 'pg';
import type { ErrorMeaning, Outcome } from '../contract/lock-client.ts';
import type { Millis } from '../history/op.ts';

export type Row = Readonly<Record<string, string | boolean | null>>;
export type Values = readonly (string | number | null | readonly string[])[];

export interface PostgresAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly commandTimeLimit: Millis;
  /** A statement that waits longer than this for a row is refused; absent: it waits for as long as its time limit. */
  readonly rowWaitMillis?: Millis;
}

export interface PostgresSession extends AsyncDisposable {
  /** Runs one prepared statement, as one transaction if none was begun. Never rejects. */
  query(name: string, statement: string, values: Values): Promise<Outcome<readonly Row[]>>;
  /** Ends it at once, whatever is on its way. */
  cut(): void;
  readonly ended: boolean;
  /** Settles once, when the session has ended, whoever ended it. */
  readonly end: Promise<void>;
}

/** Begins to connect at once; `commandTimeLimit` bounds connecting and, apart from that, each statement. */
export type OpenSession = (address: PostgresAddress) => PostgresSession;

export const POSTGRES_ERRORS: readonly ErrorMeaning[] = [
  {
    match: 'not connected',
    error: 'unavailable',
    definite: true,
    meaning: 'There was no session and none could be opened in time, so no byte of the statement was sent.',
    source: 'ours: postgres/session.ts',
  },
  {
    match: 'severity ERROR',
    error: 'sqlstate-…',
    definite: true,
    meaning: 'The statement was refused and its transaction undone; the code of the server follows.',
    source:
      'PostgreSQL 17, "Error and Notice Message Fields": ERROR aborts the transaction, here of one statement',
  },
  {
    match: 'severity FATAL or PANIC, or the connection broke',
    error: 'connection-lost',
    definite: false,
    meaning: 'The session ended with the statement in flight; it may have been committed.',
    source: 'PostgreSQL 17, "Error and Notice Message Fields": FATAL and PANIC end the session',
  },
  {
    match: 'time limit',
    error: 'timeout',
    definite: false,
    meaning: 'The statement was sent and not answered in time; it may have run, or run later.',
    source: 'ours: postgres/session.ts',
  },
];

/** With the driver `pg`. */
export const openSession: OpenSession = ({ commandTimeLimit, rowWaitMillis, ...server }) => {
  const socket = new Socket();
  const client = new Client({
    ...server,
    connectionTimeoutMillis: commandTimeLimit,
    ...(rowWaitMillis !== undefined && { lock_timeout: rowWaitMillis }),
    pipeline: true,
    // Ours, so that it can be destroyed; the driver only knows how to say goodbye.
    stream: () => socket,
  });
  const { promise: end, resolve: noteEnd } = Promise.withResolvers<void>();
  let ended = false;
  const endNow = (): void => {
    ended = true;
    socket.destroy();
    noteEnd();
  };
  client.on('error', endNow);
  client.on('end', endNow);
  const opened = client.connect().then(
    () => true,
    () => false,
  );
  return {
    end,
    get ended() {
      return ended;
    },
    async query(name, statement, values) {
      if (!(await opened) || ended) {
        endNow();
        return { kind: 'fail', error: 'unavailable' };
      }
      return new Promise((resolve) => {
        const settle = (outcome: Outcome<readonly Row[]>): void => {
          clearTimeout(timer);
          if (outcome.kind === 'info') endNow();
          resolve(outcome);
        };
        const timer = setTimeout(() => settle({ kind: 'info', error: 'timeout' }), commandTimeLimit);
        client
          .query<Row>({ name, text: statement, values: [...values] })
          .then(({ rows }) => ({ kind: 'ok' as const, value: rows }), outcomeOfError)
          .then(settle, settle);
      });
    },
    cut: endNow,
    [Symbol.asyncDispose]: async () => {
      endNow();
    },
  };
};

function outcomeOfError(error: unknown): Outcome<never> {
  if (error instanceof DatabaseError && error.severity === 'ERROR')
    return { kind: 'fail', error: `sqlstate-${error.code ?? 'unknown'}` };
  return { kind: 'info', error: 'connection-lost' };
}

/** Statements on whichever session is open: a new one is begun when the last one has ended. */
export function openSessions(
  open: () => PostgresSession,
): Pick<PostgresSession, 'query' | 'cut' | keyof AsyncDisposable> {
  let current: PostgresSession | undefined;
  return {
    query: (name, statement, values) => {
      if (current === undefined || current.ended) current = open();
      return current.query(name, statement, values);
    },
    cut: () => current?.cut(),
    [Symbol.asyncDispose]: async () => {
      await current?.[Symbol.asyncDispose]();
    },
  };
}
