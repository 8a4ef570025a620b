// A simulated PostgreSQL server: sessions that run one statement after another, transactions that keep what they have
// locked until they end, and undo what they did if they do not commit. A session whose client is gone ends behind the
// statement that it runs, which may commit. Sources: PostgreSQL 17, "Explicit Locking", "Frontend/Backend Protocol".

import { millis } from '../../history/op.ts';
import { syncMillis } from '../disk.ts';
import type { SqlRequest, SqlResponse } from '../messages.ts';
import type { Accept, Socket } from '../network.ts';
import type { Machine } from '../program.ts';
import { SqlError, type Statements, type StatementSession } from './statement.ts';

/** From start to serving. */
const STARTING_MILLIS = { min: 150, max: 400 };
/** A process of its own for each session. */
const SESSION_MILLIS = { min: 2, max: 5 };
const STATEMENT_MILLIS = { min: 0.05, max: 0.25 };
/** lock_not_available. */
const LOCK_NOT_AVAILABLE = '55P03';
/** in_failed_sql_transaction. */
const IN_FAILED_TRANSACTION = '25P02';
const NO_SUCH_STATEMENT = '26000';

interface Session {
  readonly socket: Socket;
  readonly waiting: SqlRequest[];
  readonly locks: Set<string>;
  lockTimeLimitMillis: number | undefined;
  isRunning: boolean;
  /** Nobody will send anything more. */
  isOver: boolean;
  /** Stops waiting for a lock. */
  stopWaiting: (() => void) | undefined;
  transaction: 'none' | 'open' | 'failed';
  undo: (() => void)[];
  readonly ends: (() => void)[];
  /** As a statement sees it. */
  readonly asSeen: StatementSession;
}

export function runPostgres(machine: Machine, statements: Statements): void {
  const { process, network, random, spec } = machine;
  process.after(millis(random.real(STARTING_MILLIS.min, STARTING_MILLIS.max)), () => {
    network.listen(spec.name, process, openServer(machine, statements));
  });
}

function openServer({ process, random, disk }: Machine, statements: Statements): Accept {
  const sessions = new Set<Session>();
  /** What is locked → whose it is, and who waits for it in which order. */
  const locks = new Map<string, { owner: Session; readonly queue: (() => void)[] }>();

  const lock = (session: Session, name: string, got: () => void, refused: () => void): void => {
    const held = locks.get(name);
    if (held === undefined || held.owner === session) {
      if (held === undefined) locks.set(name, { owner: session, queue: [] });
      session.locks.add(name);
      return got();
    }
    let isWaiting = true;
    const stop = (then: () => void) => (): void => {
      if (!isWaiting) return;
      isWaiting = false;
      session.stopWaiting = undefined;
      cancel?.();
      then();
    };
    const mine = stop(() => {
      session.locks.add(name);
      locks.set(name, { owner: session, queue: held.queue });
      got();
    });
    const leave = stop(() => {
      held.queue.splice(held.queue.indexOf(mine), 1);
      refused();
    });
    const { lockTimeLimitMillis } = session;
    const cancel =
      lockTimeLimitMillis === undefined ? undefined : process.after(millis(lockTimeLimitMillis), leave);
    session.stopWaiting = leave;
    held.queue.push(mine);
  };

  const endTransaction = (session: Session, how: 'commit' | 'rollback'): void => {
    if (how === 'rollback') for (const undo of session.undo.toReversed()) undo();
    session.undo = [];
    session.transaction = 'none';
    const released = [...session.locks];
    session.locks.clear();
    for (const name of released) {
      const held = locks.get(name);
      const next = held?.queue.shift();
      if (next === undefined) locks.delete(name);
      else next();
    }
  };

  const end = (session: Session): void => {
    if (!sessions.delete(session)) return;
    session.waiting.length = 0;
    endTransaction(session, 'rollback');
    for (const action of session.ends) action();
    session.socket.close();
  };

  process.onEnd(() => {
    const cutShort = [...sessions];
    sessions.clear();
    locks.clear();
    for (const { undo, ends } of cutShort) for (const step of [...undo.toReversed(), ...ends]) step();
  });

  /** What was written is on disk before anybody is told, and before its locks are free. */
  const commit = (session: Session, done: () => void): void => {
    const finish = (): void => {
      endTransaction(session, 'commit');
      done();
    };
    const takes = session.undo.length === 0 ? 0 : syncMillis(disk, 0);
    if (takes === 0) return finish();
    process.after(millis(takes), () => {
      if (sessions.has(session)) finish();
    });
  };

  const next = (session: Session): void => {
    if (session.isRunning || !sessions.has(session)) return;
    const request = session.waiting.shift();
    if (request === undefined) {
      if (session.isOver) end(session);
      return;
    }
    session.isRunning = true;
    process.after(millis(random.real(STATEMENT_MILLIS.min, STATEMENT_MILLIS.max)), () => {
      if (!sessions.has(session)) return;
      perform(session, request, (response) => {
        session.isRunning = false;
        session.socket.send(response);
        next(session);
      });
    });
  };

  const perform = (
    session: Session,
    { name, values }: SqlRequest,
    reply: (response: SqlResponse) => void,
  ): void => {
    const fail = (state: string): void => {
      if (session.transaction === 'none') endTransaction(session, 'rollback');
      else session.transaction = 'failed';
      reply({ kind: 'sql error', state });
    };
    switch (name) {
      case 'begin':
        session.transaction = 'open';
        return reply({ kind: 'sql rows', rows: [] });
      case 'commit':
        if (session.transaction !== 'failed')
          return commit(session, () => reply({ kind: 'sql rows', rows: [] }));
        endTransaction(session, 'rollback');
        return reply({ kind: 'sql rows', rows: [] });
      case 'rollback':
        endTransaction(session, 'rollback');
        return reply({ kind: 'sql rows', rows: [] });
      default:
    }
    if (session.transaction === 'failed') return fail(IN_FAILED_TRANSACTION);
    if (name === 'end-others') {
      const others = [...sessions].filter((other) => other !== session);
      // Those that wait first, so that the end of one does not let another through.
      for (const other of others) {
        other.waiting.length = 0;
        other.stopWaiting?.();
      }
      for (const other of others) end(other);
      return reply({ kind: 'sql rows', rows: [{ ended: true }] });
    }
    const statement = statements.get(name);
    if (statement === undefined) return fail(NO_SUCH_STATEMENT);
    const run = (): void => {
      try {
        const rows = statement.run(values, session.undo, session.asSeen);
        const answer = (): void => reply({ kind: 'sql rows', rows });
        if (session.transaction === 'none') commit(session, answer);
        else answer();
      } catch (error) {
        if (!(error instanceof SqlError)) throw error;
        fail(error.state);
      }
    };
    const wanted = statement.locks?.(values);
    if (wanted === undefined) run();
    else lock(session, wanted, run, () => fail(LOCK_NOT_AVAILABLE));
  };

  return (socket) => {
    const ends: (() => void)[] = [];
    const session: Session = {
      socket,
      waiting: [],
      locks: new Set(),
      lockTimeLimitMillis: undefined,
      isRunning: false,
      isOver: false,
      stopWaiting: undefined,
      transaction: 'none',
      undo: [],
      ends,
      asSeen: { wallMillis: () => process.wallMillis(), onEnd: (action) => void ends.push(action) },
    };
    return {
      message(message) {
        if (message.kind === 'probe') socket.send({ kind: 'up' });
        else if (message.kind === 'text') {
          socket.send({ kind: 'text', text: answerTo(message.text, process.wallMillis()) });
          socket.close();
        } else if (message.kind === 'sql startup') {
          sessions.add(session);
          session.lockTimeLimitMillis = message.lockTimeLimitMillis;
          process.after(millis(random.real(SESSION_MILLIS.min, SESSION_MILLIS.max)), () =>
            socket.send({ kind: 'sql ready' }),
          );
        } else if (message.kind === 'sql') {
          session.waiting.push(message);
          next(session);
        }
      },
      closed() {
        session.isOver = true;
        next(session);
      },
    };
  };
}

const VERSION = '17.6';

/** What `psql` prints for what the harness asks; tables are there without being created. */
function answerTo(sql: string, wallMillis: number): string {
  if (sql.trimStart().startsWith('create table')) return '';
  if (sql === 'SHOW server_version') return VERSION;
  if (sql.includes('clock_timestamp()')) return String(wallMillis);
  throw new Error(`not simulated: ${sql}`);
}
