// A lease in a table, by the database's own clock: one row for each lock, taken over when it has run out, kept when it
// is given back, so that its token only grows. `clock_timestamp()` and not `now()`: a statement that had to wait for the
// row must look at the time after the wait.

import type { AcquireRequest, Outcome } from '../../../contract/lock-client.ts';
import { fencingToken, nanos, nanosOf } from '../../../history/op.ts';
import { openSessions } from '../../../postgres/session.ts';
import type { PostgresRecipe } from '../port.ts';

export const LEASE_TABLE = `create table if not exists lease (
  lock text primary key, owner text not null, expires timestamptz not null, token bigint not null)`;

const TAKE = `insert into lease as held (lock, owner, expires, token)
  values ($1, $2, clock_timestamp() + $3 * interval '1 millisecond', 1)
  on conflict (lock) do update set owner = excluded.owner, expires = excluded.expires, token = held.token + 1
  where held.expires <= clock_timestamp()
  returning token`;
const GIVE_BACK = `update lease set expires = '-infinity'
  where lock = $1 and owner = $2 and expires > clock_timestamp() returning token`;

export const leaseRow: PostgresRecipe = {
  name: 'lease-row',
  summary: 'one row for each lock with owner, expiry by the clock of the database, and token',
  tokenSource: 'a column of the row, counted up by each grant',
  polls: true,
  ownerChecked: true,
  lockClient: (postgres, { now }) => {
    const sessions = openSessions(() => postgres.open());
    const giveBack = async ({ lock, owner }: AcquireRequest): Promise<Outcome<{ released: boolean }>> => {
      const rows = await sessions.query('give-back', GIVE_BACK, [lock, owner]);
      return rows.kind === 'ok' ? { kind: 'ok', value: { released: rows.value.length === 1 } } : rows;
    };
    return {
      acquire: async (request) => {
        const { lock, owner, ttlMillis } = request;
        const validUntil = nanos(now() + nanosOf(ttlMillis));
        const rows = await sessions.query('take', TAKE, [lock, owner, ttlMillis]);
        if (rows.kind !== 'ok') return rows;
        const token = rows.value[0]?.['token'];
        if (token === undefined) return { kind: 'fail', error: 'busy' };
        return { kind: 'ok', value: { request, token: fencingToken(String(token)), validUntil } };
      },
      release: ({ request }) => giveBack(request),
      abandon: giveBack,
      [Symbol.asyncDispose]: () => sessions[Symbol.asyncDispose](),
    };
  },
};
