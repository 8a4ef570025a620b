// The session-level advisory lock ("Advisory Locks", PostgreSQL 17): it belongs to the session, which is one TCP
// connection, and to nothing else. No lease: a holder that stands still keeps it, one whose connection ends has lost
// it at that moment, and the client hears of it as soon as the connection is seen to be closed.

import type { AcquireRequest, Outcome } from '../../../contract/lock-client.ts';
import type { PostgresSession, Row } from '../../../postgres/session.ts';
import type { PostgresRecipe } from '../port.ts';

const LOCK = 'select pg_try_advisory_lock(hashtextextended($1, 0)) as done';
const UNLOCK = 'select pg_advisory_unlock(hashtextextended($1, 0)) as done';
const SESSION_ENDED: Outcome<never> = { kind: 'info', error: 'session-ended' };

export const advisoryLock: PostgresRecipe = {
  name: 'advisory-lock',
  summary: 'pg_try_advisory_lock on one session for each client; released by pg_advisory_unlock',
  polls: true,
  sessionBound: true,
  ownerChecked: true,
  lockClient: (postgres, { onLost }) => {
    let current: PostgresSession | undefined;
    /** Owner → the session that was granted it. */
    const grants = new Map<string, PostgresSession>();

    const live = (): PostgresSession => {
      if (current === undefined || current.ended) current = postgres.open();
      return current;
    };
    const watch = async (session: PostgresSession, request: AcquireRequest): Promise<void> => {
      await session.end;
      if (grants.delete(request.owner)) onLost(request, 'session-ended');
    };

    return {
      acquire: async (request) => {
        const session = live();
        const locked = done(await session.query('lock', LOCK, [request.lock]));
        if (locked.kind !== 'ok') return locked;
        if (!locked.value) return { kind: 'fail', error: 'busy' };
        grants.set(request.owner, session);
        void watch(session, request);
        return { kind: 'ok', value: { request } };
      },
      release: async ({ request }) => {
        const session = grants.get(request.owner);
        grants.delete(request.owner);
        // It was given back before, or ended with its session. The server may see that later; this client will not.
        if (session === undefined || session.ended) return { kind: 'ok', value: { released: false } };
        const unlocked = done(await session.query('unlock', UNLOCK, [request.lock]));
        return unlocked.kind === 'ok' ? { kind: 'ok', value: { released: unlocked.value } } : unlocked;
      },
      // An acquire of unknown outcome has ended its session, and the lock with it.
      abandon: () => Promise.resolve(SESSION_ENDED),
      [Symbol.asyncDispose]: async () => {
        grants.clear();
        await current?.[Symbol.asyncDispose]();
      },
    };
  },
};

function done(rows: Outcome<readonly Row[]>): Outcome<boolean> {
  return rows.kind === 'ok' ? { kind: 'ok', value: rows.value[0]?.['done'] === true } : rows;
}
