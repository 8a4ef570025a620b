// One process's connection to the store: requests become statements of a session. Row-level decisions are made in
// `schema.ts`, not here.

import type { Outcome } from '../contract/lock-client.ts';
import type { StoreAddress, StoreClient, StoreReadRequest, StoreWrite } from '../contract/store.ts';
import { HarnessError } from '../contract/errors.ts';
import { fencingToken, millis, type AuditRow } from '../history/op.ts';
import { LOCKPICK } from '../postgres/server-node.ts';
import {
  openSession as openRealSession,
  openSessions,
  type OpenSession,
  type PostgresSession,
  type Row,
  type Values,
} from '../postgres/session.ts';
import { defences } from './defences.ts';
import { ROW_WAIT_MILLIS, rowLocks } from './row-locks.ts';

const SEED = `insert into register (defence, key, value, version)
  select defence, key, $3, 0 from unnest($1::text[]) defence, unnest($2::text[]) key on conflict do nothing`;
const READ = `select value, version, coalesce($3 = any (orders), false) as applied from register
  where defence = $1 and key = $2`;
const LOCKING_READ = `${READ} for update`;
const FENCED_READ = `select current_value as value, current_version as version, is_applied as applied
  from fenced_read($1, $2, $3, $4)`;
const WRITE = `select was_accepted, new_version, highest_token
  from attempt_write($1, $2, $3, $4, $5, $6, $7, $8, $9)`;
const ENQUEUE = `insert into queue (op, key, process, token, value, added, order_id)
  values ($1, $2, $3, $4, $5, $6, $7)`;
const SERVE = 'select was_accepted, new_version, highest_token from serve_queue($1, $2)';
const AUDIT = `select seq, op, process, token, base, version, value, order_id, accepted from audit
  where defence = $1 and key = $2 and seq > $3 order by seq limit $4`;
/** Those that wait for a row first, so that the end of one session does not let the write of another through. */
const END_OTHERS = `select bool_and(pg_terminate_backend(pid, 5000)) as ended
  from (
    select pid from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
    order by wait_event_type is distinct from 'Lock'
  ) others`;
const SERVE_WAITING = `select serve_queue(key, null)::text as served
  from (select distinct key from queue where accepted is null) waiting`;

const SETTING_UP_TIME_LIMIT = millis(10_000);

/** What the store holds before anybody has written. */
export interface StoreContents {
  readonly defences: readonly string[];
  readonly keys: readonly string[];
  /** A whole number. */
  readonly initialValue: string;
}

/**
 * Connects to a prepared store and makes sure that every key exists in every defence, with the initial value and version
 * 0. Throws HarnessError('environment') if it cannot.
 */
export async function openStore(
  address: StoreAddress,
  contents: StoreContents,
  openSession: OpenSession = openRealSession,
): Promise<StoreClient> {
  const server = { ...address, user: LOCKPICK, database: LOCKPICK };
  // Many clients start at once, and none of them is being measured yet; nor at the end.
  const unhurried = (): PostgresSession =>
    openSession({ ...server, commandTimeLimit: SETTING_UP_TIME_LIMIT });
  {
    await using seeding = unhurried();
    const { initialValue } = contents;
    const seeded = await seeding.query('seed', SEED, [contents.defences, contents.keys, initialValue]);
    if (seeded.kind !== 'ok')
      throw new HarnessError('environment', `the store at ${address.host}:${address.port} cannot be used`, {
        detail: seeded.error,
      });
  }
  const connection = openSessions(() => openSession(server));
  const locked = rowLocks(() => openSession({ ...server, rowWaitMillis: ROW_WAIT_MILLIS }), {
    ready: contents.defences.includes('row-lock') ? 1 : 0,
  });

  const readRows = (
    defence: string,
    { key, token, ...asked }: StoreReadRequest,
  ): Promise<Outcome<readonly Row[]>> => {
    const order = asked.order ?? null;
    if (defence === 'row-lock') return locked.begin(key, 'locking-read', LOCKING_READ, [defence, key, order]);
    return defence === 'fence-on-read-and-write' && token !== undefined
      ? connection.query('fenced-read', FENCED_READ, [defence, key, order, token.toString()])
      : connection.query('read', READ, [defence, key, order]);
  };

  const writeRows = async (defence: string, write: StoreWrite): Promise<Outcome<readonly Row[]>> => {
    const { key, id, process, token, base, value, add, order } = write;
    const shown = token?.toString() ?? null;
    if (defence === 'serialized-queue') {
      const enqueue: Values = [id, key, process, shown, value, add ?? null, order ?? null];
      const [enqueued, served] = await Promise.all([
        connection.query('enqueue', ENQUEUE, enqueue),
        connection.query('serve', SERVE, [key, id]),
      ]);
      if (enqueued.kind !== 'ok' || served.kind === 'ok') return enqueued.kind === 'ok' ? served : enqueued;
      // It waits in the queue, and whoever comes next applies it.
      return { kind: 'info', error: served.error };
    }
    const version = isRelative(defence) ? null : base;
    const values = [defence, key, id, process, shown, version, value, add ?? null, order ?? null];
    return defence === 'row-lock'
      ? await locked.commit(key, 'write', WRITE, values)
      : await connection.query('write', WRITE, values);
  };

  return {
    async read(defence, request) {
      const rows = await readRows(defence, request);
      if (rows.kind !== 'ok') return rows;
      const row = onlyRow(rows.value);
      // `fenced_read` answers a refused reader with nulls.
      if (row['value'] === null) return { kind: 'fail', error: refusalOf(defence) };
      const applied = request.order === undefined ? {} : { applied: row['applied'] === true };
      return { kind: 'ok', value: { value: text(row, 'value'), version: text(row, 'version'), ...applied } };
    },
    async write(defence, write) {
      const rows = await writeRows(defence, write);
      if (rows.kind !== 'ok') return rows;
      const row = onlyRow(rows.value);
      if (row['was_accepted'] === true) return { kind: 'ok', value: { version: text(row, 'new_version') } };
      const highest =
        row['highest_token'] === null ? {} : { highest: fencingToken(text(row, 'highest_token')) };
      return { kind: 'fail', error: refusalOf(defence), ...highest };
    },
    async audit(defence, { key, after, limit }) {
      const rows = await connection.query('audit', AUDIT, [defence, key, after, limit]);
      return rows.kind === 'ok' ? { kind: 'ok', value: rows.value.map(auditRow) } : rows;
    },
    cut() {
      connection.cut();
      locked.cut();
    },
    leave: (key) => locked.leave(key),
    async seal() {
      await using sealing = unhurried();
      const ended = await sealing.query('end-others', END_OTHERS, []);
      if (ended.kind !== 'ok') return ended;
      if (onlyRow(ended.value)['ended'] === false) return { kind: 'fail', error: 'session-goes-on' };
      return await sealing.query('serve-waiting', SERVE_WAITING, []);
    },
    async [Symbol.asyncDispose]() {
      await connection[Symbol.asyncDispose]();
      await locked[Symbol.asyncDispose]();
    },
  };
}

function isRelative(name: string): boolean {
  return defences.find((defence) => defence.name === name)?.relative === true;
}

function refusalOf(name: string): string {
  return defences.find((defence) => defence.name === name)?.refusal ?? 'refused';
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
    ...(row['order_id'] !== null && { order: text(row, 'order_id') }),
    accepted: row['accepted'] === true,
  };
}
