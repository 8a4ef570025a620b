// The defence `row-lock`, as a client does it: a transaction that begins with a read which locks the row, and ends with
// the write. Between the two it owns a session, so one key is one session; sessions are used again. Knows no table.

import type { Outcome } from '../contract/lock-client.ts';
import { millis } from '../history/op.ts';
import type { PostgresSession, Row, Values } from '../postgres/session.ts';

/**
 * A row is locked for long only while another believes that it holds the lock. Waiting longer for it would hold up what
 * the same critical section does with the other defences.
 */
export const ROW_WAIT_MILLIS = millis(50);

export interface RowLocks extends AsyncDisposable {
  /** Begins a transaction for `key` with this statement; one that is still open is given up. Never rejects. */
  begin(key: string, name: string, statement: string, values: Values): Promise<Outcome<readonly Row[]>>;
  /** Ends the transaction of `key` with this statement. `fail` with `no-transaction`: there is none. Never rejects. */
  commit(key: string, name: string, statement: string, values: Values): Promise<Outcome<readonly Row[]>>;
  /** Ends every session, whatever is on its way. */
  cut(): void;
  /** Undoes the transaction of `key`, if there is one. */
  leave(key: string): Promise<void>;
}

/** `open` begins a session whose statements wait no longer than `ROW_WAIT_MILLIS` for a row; `ready`: so many sessions are opened at once, so that the first reads are not slower than those of others. */
export function rowLocks(open: () => PostgresSession, { ready }: { readonly ready: number }): RowLocks {
  const idle = Array.from({ length: ready }, open);
  const begun = new Map<string, PostgresSession>();
  const committing = new Set<PostgresSession>();
  const cut = (): void => {
    for (const session of [...idle, ...begun.values(), ...committing]) session.cut();
  };

  const take = (): PostgresSession => {
    for (let session = idle.pop(); session !== undefined; session = idle.pop())
      if (!session.ended) return session;
    return open();
  };
  const undo = async (session: PostgresSession): Promise<void> => {
    const undone = await session.query('rollback', 'rollback', []);
    // An ended session has undone it as well.
    if (undone.kind === 'ok') idle.push(session);
  };
  const leave = async (key: string): Promise<void> => {
    const session = begun.get(key);
    begun.delete(key);
    if (session !== undefined) await undo(session);
  };

  return {
    async begin(key, name, statement, values) {
      await leave(key);
      const session = take();
      const [started, rows] = await Promise.all([
        session.query('begin', 'begin', []),
        session.query(name, statement, values),
      ]);
      if (started.kind === 'ok' && rows.kind === 'ok') begun.set(key, session);
      else if (!session.ended) await undo(session);
      return started.kind === 'ok' ? rows : started;
    },
    async commit(key, name, statement, values) {
      const session = begun.get(key);
      begun.delete(key);
      if (session === undefined || session.ended) return { kind: 'fail', error: 'no-transaction' };
      committing.add(session);
      const [rows, committed] = await Promise.all([
        session.query(name, statement, values),
        session.query('commit', 'commit', []),
      ]);
      committing.delete(session);
      if (!session.ended) idle.push(session);
      // A statement that failed makes the COMMIT a ROLLBACK.
      return rows.kind !== 'ok' || committed.kind === 'ok' ? rows : committed;
    },
    cut,
    leave,
    [Symbol.asyncDispose]: async () => cut(),
  };
}
