// One process's connection to the store: requests become statements of a session. Row-level decisions are made in
// `schema.ts`, not here.

import type { StoreAddress, StoreClient } from '../contract/store.ts';
import { HarnessError } from '../contract/errors.ts';
import { fencingToken, millis, type AuditRow } from '../history/op.ts';
import { openSession, openSessions, type Row } from '../postgres/session.ts';
import { STORE_DATABASE, STORE_USER } from './node.ts';

const SEED = `insert into register (defence, key, value, version)
  select defence, key, '0', 0 from unnest($1::text[]) defence, unnest($2::text[]) key on conflict do nothing`;
const READ = 'select value, version from register where defence = $1 and key = $2';
const FENCED_READ = 'select current_value as value, current_version as version from fenced_read($1, $2, $3)';
const WRITE =
  'select was_accepted, new_version, highest_token from attempt_write($1, $2, $3, $4, $5, $6, $7)';
const AUDIT = `select seq, op, process, token, base, version, value, accepted from audit
  where defence = $1 and key = $2 and seq > $3 order by seq limit $4`;

const STALE_TOKEN = 'stale-token';
const SEED_TIME_LIMIT = millis(10_000);

/**
 * Connects to a prepared store and makes sure that every key exists in every defence, with value 0 and version 0.
 * Throws HarnessError('environment') if it cannot.
 */
export async function openStore(
  address: StoreAddress,
  contents: { readonly defences: readonly string[]; readonly keys: readonly string[] },
): Promise<StoreClient> {
  const server = { ...address, user: STORE_USER, database: STORE_DATABASE };
  {
    // Many clients start at once, and none of them is being measured yet.
    await using seeding = openSession({ ...server, commandTimeLimit: SEED_TIME_LIMIT });
    const seeded = await seeding.query('seed', SEED, [contents.defences, contents.keys]);
    if (seeded.kind !== 'ok')
      throw new HarnessError('environment', `the store at ${address.host}:${address.port} cannot be used`, {
        detail: seeded.error,
      });
  }
  const connection = openSessions(() => openSession(server));
  return {
    async read(defence, { key, token }) {
      const raisesMark = defence === 'fence-on-read-and-write' && token !== undefined;
      const rows = raisesMark
        ? await connection.query('fenced-read', FENCED_READ, [defence, key, token.toString()])
        : await connection.query('read', READ, [defence, key]);
      if (rows.kind !== 'ok') return rows;
      const row = onlyRow(rows.value);
      // `fenced_read` answers a refused reader with nulls.
      if (row['value'] === null) return { kind: 'fail', error: STALE_TOKEN };
      return { kind: 'ok', value: { value: text(row, 'value'), version: text(row, 'version') } };
    },
    async write(defence, { key, id, process, token, base, value }) {
      const rows = await connection.query('write', WRITE, [
        defence,
        key,
        id,
        process,
        token?.toString() ?? null,
        base,
        value,
      ]);
      if (rows.kind !== 'ok') return rows;
      const row = onlyRow(rows.value);
      if (row['was_accepted'] === true) return { kind: 'ok', value: { version: text(row, 'new_version') } };
      const highest =
        row['highest_token'] === null ? {} : { highest: fencingToken(text(row, 'highest_token')) };
      return { kind: 'fail', error: STALE_TOKEN, ...highest };
    },
    async audit(defence, { key, after, limit }) {
      const rows = await connection.query('audit', AUDIT, [defence, key, after, limit]);
      return rows.kind === 'ok' ? { kind: 'ok', value: rows.value.map(auditRow) } : rows;
    },
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

function onlyRow(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error('the store answered without a row: a key that was never created');
  return row;
}

function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new Error(`column ${column} of the store is ${String(value)}`);
  return value;
}

function auditRow(row: Row): AuditRow {
  return {
    seq: text(row, 'seq'),
    id: Number(text(row, 'op')),
    process: text(row, 'process'),
    ...(row['token'] !== null && { token: fencingToken(text(row, 'token')) }),
    base: text(row, 'base'),
    version: text(row, 'version'),
    value: text(row, 'value'),
    accepted: row['accepted'] === true,
  };
}
