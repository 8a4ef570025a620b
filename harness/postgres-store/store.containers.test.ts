// The store on a real PostgreSQL: what each defence accepts, that the audit table's order is the order of effect, and
// what becomes of a request that is not answered in time.

import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoreClient, StoreWrite } from '../contract/store.ts';
import { HarnessError } from '../contract/errors.ts';
import { fencingToken, millis, type AuditRow, type Millis } from '../history/op.ts';
import { startServer, type ServerContainer } from '../testing/container.fixture.ts';
import { openStore } from './client.ts';
import { defences } from './defences.ts';
import { LOCKPICK } from '../postgres/server-node.ts';
import { prepareStore, storeNode } from './node.ts';

/** Long enough for a busy machine; where running out of it is the point, the short one. */
const AMPLE = millis(20_000);
const SHORT = millis(1000);
const ALL = defences.map(({ name }) => name);

let server: ServerContainer;
let keys = 0;
let ids = 0;

beforeAll(async () => {
  const { image, port } = storeNode();
  server = await startServer(image, port ?? 0);
  const ready = async () => (await server.exec(['pg_isready', '-q', '-h', '127.0.0.1'])).exitCode === 0;
  while (!(await ready())) await delay(50);
  await prepareStore(server);
});
afterAll(() => server[Symbol.asyncDispose]());

function open(key: string, commandTimeLimit: Millis): Promise<StoreClient> {
  const { host, port } = server;
  return openStore({ host, port, commandTimeLimit }, { defences: ALL, keys: [key], initialValue: '0' });
}

async function fresh(commandTimeLimit = AMPLE): Promise<{ key: string; store: StoreClient }> {
  keys += 1;
  const key = `key-${keys}`;
  return { key, store: await open(key, commandTimeLimit) };
}

function write(key: string, value: number, base: number, token?: number): StoreWrite {
  ids += 1;
  return {
    id: ids,
    process: 'c1',
    key,
    value: String(value),
    base: String(base),
    add: '1',
    ...(token !== undefined && { token: fencingToken(String(token)) }),
  };
}

async function audit(store: StoreClient, defence: string, key: string): Promise<readonly AuditRow[]> {
  const rows = await store.audit(defence, { key, after: '0', limit: 100_000 });
  if (rows.kind !== 'ok') throw new Error(rows.error);
  return rows.value;
}

/** A session beside the store's clients, which a test may end like any other. */
async function sql(): Promise<Client & AsyncDisposable> {
  const client = new Client({
    host: server.host,
    port: server.port,
    user: LOCKPICK,
    database: LOCKPICK,
  });
  client.on('error', () => {});
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** Begins a transaction that has every row of the key, but of the defences that are left out. */
async function blocking(key: string, but = ''): Promise<Client & AsyncDisposable> {
  const blocker = await sql();
  await blocker.query('begin');
  await blocker.query('select from register where key = $1 and defence <> $2 for update', [key, but]);
  return blocker;
}

/** Until a session waits for a lock. */
async function someoneWaits(): Promise<void> {
  // Not in the blocker's transaction, whose view of the sessions stays as it was.
  await using watcher = await sql();
  const locked = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  await expect.poll(async () => (await watcher.query(locked)).rowCount).toBe(1);
}

/** Of one whose time limit is short: later only an answer can be late. */
async function connected(store: StoreClient, key: string): Promise<void> {
  await expect.poll(() => store.read('none', { key })).toMatchObject({ kind: 'ok' });
}

function rowOf(read: Awaited<ReturnType<StoreClient['read']>>): { readonly value: string } {
  if (read.kind !== 'ok') throw new Error(read.error);
  return read.value;
}

const STALE = { kind: 'fail', error: 'stale-token' };

describe('what each defence does', () => {
  it.each(ALL)('%s: starts at 0, and each accepted write makes the next version', async (defence) => {
    const { key, store } = await fresh();
    expect(await store.read(defence, { key })).toEqual({ kind: 'ok', value: { value: '0', version: '0' } });
    expect(await store.write(defence, write(key, 1, 0, 1))).toEqual({ kind: 'ok', value: { version: '1' } });
    expect(await store.read(defence, { key })).toMatchObject({ value: { value: '1', version: '1' } });
    expect(await store.write(defence, write(key, 2, 1, 1))).toEqual({ kind: 'ok', value: { version: '2' } });
    expect(await store.read(defence, { key })).toEqual({ kind: 'ok', value: { value: '2', version: '2' } });
    await store[Symbol.asyncDispose]();
  });

  it('none: takes stale writes and writes without a token', async () => {
    const { key, store } = await fresh();
    await store.write('none', write(key, 1, 0, 9));
    expect(await store.write('none', write(key, 2, 0, 1))).toMatchObject({ kind: 'ok' });
    expect(await store.write('none', write(key, 3, 0))).toMatchObject({ kind: 'ok' });
    await store[Symbol.asyncDispose]();
  });

  it.each(['fence-on-write', 'fence-on-read-and-write'])(
    '%s: refuses a stale write, or one without',
    async (defence) => {
      const { key, store } = await fresh();
      await store.write(defence, write(key, 1, 0, 9));
      expect(await store.write(defence, write(key, 2, 1, 8))).toEqual({ ...STALE, highest: 9n });
      expect(await store.write(defence, write(key, 2, 1))).toEqual({ ...STALE, highest: 9n });
      expect(await store.read(defence, { key })).toEqual({ kind: 'ok', value: { value: '1', version: '1' } });
      await store[Symbol.asyncDispose]();
    },
  );

  it('fence-on-read-and-write: a read raises the mark, and a stale read is refused', async () => {
    const { key, store } = await fresh();
    const defence = 'fence-on-read-and-write';
    const read = (token: string) => store.read(defence, { key, token: fencingToken(token) });
    expect(await read('5')).toMatchObject({ kind: 'ok' });
    expect(await store.write(defence, write(key, 1, 0, 4))).toEqual({ ...STALE, highest: 5n });
    expect(await read('4')).toEqual(STALE);
    expect(await read('5')).toMatchObject({ kind: 'ok' });
    expect(await store.write(defence, write(key, 1, 0, 5))).toMatchObject({ kind: 'ok' });
    expect(await store.read(defence, { key })).toMatchObject({ kind: 'ok' });
    await store[Symbol.asyncDispose]();
  });

  it('fence-on-write: a read does not raise the mark', async () => {
    const { key, store } = await fresh();
    await store.read('fence-on-write', { key, token: fencingToken('5') });
    expect(await store.write('fence-on-write', write(key, 1, 0, 4))).toMatchObject({ kind: 'ok' });
    await store[Symbol.asyncDispose]();
  });

  it.each(ALL)(
    '%s: what becomes of a write that was computed from what is no longer there',
    async (defence) => {
      const { key, store: late } = await fresh();
      const next = await open(key, AMPLE);
      await late.read(defence, { key, token: fencingToken('5') });
      // The next holder has read and not yet written when the late one writes: the gap that fencing of writes leaves.
      const nextRead = await next.read(defence, { key, token: fencingToken('6') });
      const lateWrite = await late.write(defence, write(key, 1, 0, 5));
      const nextWrite = nextRead.kind === 'ok' ? await next.write(defence, write(key, 1, 0, 6)) : nextRead;
      const what = [lateWrite, nextWrite].map((outcome) => (outcome.kind === 'fail' ? outcome.error : 'ok'));
      const { value: found } = rowOf(await late.read(defence, { key, token: fencingToken('7') }));
      expect([...what, found]).toEqual(
        {
          none: ['ok', 'ok', '1'],
          'fence-on-write': ['ok', 'ok', '1'],
          'fence-on-read-and-write': ['stale-token', 'ok', '1'],
          'version-cas': ['ok', 'version-conflict', '1'],
          'row-lock': ['ok', 'sqlstate-55P03', '1'],
          'conditional-update': ['ok', 'ok', '2'],
          'unique-constraint': ['ok', 'not-unique', '1'],
          'serialized-queue': ['ok', 'ok', '2'],
        }[defence],
      );
      for (const client of [late, next]) await client[Symbol.asyncDispose]();
    },
  );

  it('conditional-update and serialized-queue: never go below zero, and apply an order once', async () => {
    const { key, store } = await fresh();
    const take = (order: string, add: string): StoreWrite => ({ ...write(key, 0, 0), add, order });
    for (const [defence, error] of [
      ['conditional-update', 'condition-not-met'],
      ['serialized-queue', 'refused-by-writer'],
    ] as const) {
      expect(await store.write(defence, take('a', '1'))).toMatchObject({ kind: 'ok' });
      expect(await store.write(defence, take('a', '1'))).toEqual({ kind: 'fail', error });
      expect(await store.write(defence, take('b', '-2'))).toEqual({ kind: 'fail', error });
      expect(await store.write(defence, take('b', '-1'))).toMatchObject({ kind: 'ok' });
      const rows = await audit(store, defence, key);
      expect(rows.map(({ value, order, accepted }) => accepted && [order, value])).toEqual([
        ['a', '1'],
        false,
        false,
        ['b', '0'],
      ]);
      expect(await store.read(defence, { key, order: 'b' })).toMatchObject({ value: { applied: true } });
      expect(await store.read(defence, { key, order: 'c' })).toMatchObject({ value: { applied: false } });
    }
    await store[Symbol.asyncDispose]();
  });

  it('row-lock: keeps others out from the read to the write, or until the client leaves or is gone', async () => {
    const { key, store } = await fresh();
    const other = await open(key, AMPLE);
    const defence = 'row-lock';
    const kept = { kind: 'fail', error: 'sqlstate-55P03' };
    expect(await store.write(defence, write(key, 1, 0))).toEqual({ kind: 'fail', error: 'no-transaction' });
    await store.read(defence, { key });
    expect(await other.read(defence, { key })).toEqual(kept);
    await store.leave(key);
    expect(await other.read(defence, { key })).toMatchObject({ kind: 'ok' });
    expect(await store.read(defence, { key })).toEqual(kept);
    await other[Symbol.asyncDispose]();
    await expect.poll(() => store.read(defence, { key })).toMatchObject({ kind: 'ok' });
    await using admin = await sql();
    await admin.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where state = 'idle in transaction' and pid <> pg_backend_pid()`);
    await expect
      .poll(() => store.write(defence, write(key, 1, 0)))
      .toEqual({ kind: 'fail', error: 'no-transaction' });
    expect(await audit(store, defence, key)).toEqual([]);
    await store[Symbol.asyncDispose]();
  });

  it('keeps tokens of 64 bits', async () => {
    const { key, store } = await fresh();
    const token = 9_223_372_036_854_775_806n;
    const request = { ...write(key, 1, 0), token: fencingToken(String(token)) };
    expect(await store.write('fence-on-write', request)).toMatchObject({ kind: 'ok' });
    expect(await store.write('fence-on-write', write(key, 1, 0, 1))).toEqual({ ...STALE, highest: token });
    expect((await audit(store, 'fence-on-write', key))[0]?.token).toBe(token);
    await store[Symbol.asyncDispose]();
  });
});

describe('the audit table', () => {
  it('has a row for each attempt, refused ones too, with the version they met', async () => {
    const { key, store } = await fresh();
    const attempts = [write(key, 1, 0, 2), write(key, 5, 0, 1), write(key, 2, 1, 2), write(key, 9, 0)];
    for (const attempt of attempts) await store.write('fence-on-write', attempt);
    const row = (index: number, version: string, accepted: boolean) => {
      const { key: _key, add: _add, ...rest } = attempts[index] ?? write(key, 0, 0);
      return { ...rest, version, accepted, seq: expect.any(String) };
    };
    expect(await audit(store, 'fence-on-write', key)).toEqual([
      row(0, '0', true),
      row(1, '1', false),
      row(2, '1', true),
      row(3, '2', false),
    ]);
    await store[Symbol.asyncDispose]();
  });

  it('is read page by page', async () => {
    const { key, store } = await fresh();
    for (let value = 1; value <= 5; value++) await store.write('none', write(key, value, value - 1));
    const first = await store.audit('none', { key, after: '0', limit: 3 });
    if (first.kind !== 'ok') throw new Error(first.error);
    expect(first.value.map(({ value }) => value)).toEqual(['1', '2', '3']);
    const rest = await store.audit('none', { key, after: first.value[2]?.seq ?? '', limit: 3 });
    expect(rest).toMatchObject({ kind: 'ok', value: [{ value: '4' }, { value: '5' }] });
    await store[Symbol.asyncDispose]();
  });

  it.each(ALL)('%s: its order is the order of effect, with ten writers at once', async (defence) => {
    const { key, store } = await fresh();
    const writers = await Promise.all(Array.from({ length: 10 }, () => open(key, AMPLE)));
    let attempts = 0;
    await Promise.all(
      writers.map(async (writer, index) => {
        for (let turn = 0; turn < 100; turn++) {
          const read = await writer.read(defence, { key });
          if (read.kind !== 'ok') continue; // Another has the row.
          attempts += 1;
          const [value, base] = [Number(read.value.value) + 1, Number(read.value.version)];
          await writer.write(defence, write(key, value, base, Math.floor((turn * 10 + index * 7) / 13)));
        }
      }),
    );
    const rows = await audit(store, defence, key);
    expect(rows).toHaveLength(attempts);
    // Replayed in the table's order, every decision must come out as it was made.
    const decides: Readonly<Record<string, (row: AuditRow, highest: bigint) => boolean>> = {
      'fence-on-write': ({ token = -1n }, highest) => token >= highest,
      'fence-on-read-and-write': ({ token = -1n }, highest) => token >= highest,
      'version-cas': (row) => row.base === row.version,
      'unique-constraint': (row) => row.base === row.version,
    };
    let version = 0;
    let highest = -1n;
    for (const row of rows) {
      expect(row.version).toBe(String(version));
      expect(row.accepted).toBe(decides[defence]?.(row, highest) ?? true);
      if (!row.accepted) continue;
      version += 1;
      if ((row.token ?? -1n) > highest) highest = row.token ?? -1n;
    }
    expect(version).toBeGreaterThan(50);
    // There is no lock around the writers, and all but these three keep every update all the same.
    const loses = ['none', 'fence-on-write', 'fence-on-read-and-write'].includes(defence);
    expect(await store.read(defence, { key })).toMatchObject({
      value: { version: String(version), ...(!loses && { value: String(version) }) },
    });
    for (const writer of [store, ...writers]) await writer[Symbol.asyncDispose]();
  });
});

describe('a store that does not answer', () => {
  it('is unknown at the time limit; the write may land later, and the next request goes out on a new connection', async () => {
    const { key, store } = await fresh(SHORT);
    await connected(store, key);
    await using blocker = await blocking(key);
    const stuck = write(key, 1, 0);
    expect(await store.write('none', stuck)).toEqual({ kind: 'info', error: 'timeout' });
    await expect.poll(() => store.read('none', { key })).toMatchObject({ value: { version: '0' } });
    await blocker.query('rollback');
    const reader = await open(key, AMPLE);
    await expect.poll(async () => (await audit(reader, 'none', key)).map(({ id }) => id)).toEqual([stuck.id]);
    await reader[Symbol.asyncDispose]();
    await expect.poll(() => store.read('none', { key })).toMatchObject({ value: { version: '1' } });
    await store[Symbol.asyncDispose]();
  });

  it('may apply an order twice that is sent again, if the defence goes neither by order nor by version', async () => {
    const { key, store } = await fresh(SHORT);
    const buyer = await open(key, AMPLE);
    const order = (token: number, value: number, base: number): StoreWrite => ({
      ...write(key, value, base, token),
      order: 'a',
    });
    await connected(store, key);
    await buyer.read('row-lock', { key });
    await using blocker = await blocking(key, 'row-lock');
    const first = await Promise.all(
      ALL.map((defence) => (defence === 'row-lock' ? buyer : store).write(defence, order(5, 1, 0))),
    );
    expect(first.map(({ kind }) => kind)).toEqual(ALL.map((name) => (name === 'row-lock' ? 'ok' : 'info')));
    const reads = ALL.map((defence) => buyer.read(defence, { key, order: 'a', token: fencingToken('6') }));
    const applied = async (defence: string): Promise<number> =>
      (await audit(buyer, defence, key)).filter(({ accepted }) => accepted).length;
    // These two read without a lock, so before the first write lands; it lands before the second is sent.
    const careless = ['none', 'fence-on-write'];
    for (const defence of careless) await reads[ALL.indexOf(defence)];
    await blocker.query('rollback');
    for (const defence of careless) await expect.poll(() => applied(defence)).toBe(1);
    const again = ALL.map(async (defence, index) => {
      const read = await reads[index];
      if (read?.kind !== 'ok') throw new Error(`${defence}: ${read?.error}`);
      if (read.value.applied !== true) await buyer.write(defence, order(6, 1, 0));
    });
    await Promise.all(again);
    expect(
      Object.fromEntries(await Promise.all(ALL.map(async (name) => [name, await applied(name)]))),
    ).toEqual({ ...Object.fromEntries(ALL.map((name) => [name, 1])), none: 2, 'fence-on-write': 2 });
    for (const client of [store, buyer]) await client[Symbol.asyncDispose]();
  });

  it('is sealed: what is in flight never lands, and what waits in a queue is applied', async () => {
    const { key, store } = await fresh();
    const sealing = await open(key, AMPLE);
    // Its session is one of those that end, and so is its row lock.
    await using _blocker = await blocking(key);
    const writing = store.write('none', write(key, 1, 0));
    await someoneWaits();
    const { id, process, value, add } = write(key, 1, 0);
    await using queued = await sql();
    await queued.query('insert into queue (op, key, process, value, added) values ($1, $2, $3, $4, $5)', [
      id,
      key,
      process,
      value,
      add,
    ]);
    expect(await sealing.seal()).toMatchObject({ kind: 'ok' });
    expect(await writing).toEqual({ kind: 'info', error: 'connection-lost' });
    expect(await audit(sealing, 'none', key)).toEqual([]);
    expect((await audit(sealing, 'serialized-queue', key)).map((row) => row.id)).toEqual([id]);
    for (const client of [store, sealing]) await client[Symbol.asyncDispose]();
  });

  it('makes everything unknown that waits on the same connection', async () => {
    const { key, store } = await fresh(SHORT);
    await connected(store, key);
    await using _blocker = await blocking(key);
    const outcomes = [store.write('none', write(key, 1, 0)), store.read('none', { key })];
    expect(await Promise.all(outcomes)).toMatchObject([{ kind: 'info' }, { kind: 'info' }]);
    await store[Symbol.asyncDispose]();
  });

  it('whose session was ended tells nothing about a write in flight', async () => {
    const { key, store } = await fresh();
    await using blocker = await blocking(key);
    const writing = store.write('none', write(key, 1, 0));
    await someoneWaits();
    await blocker.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where usename = current_user and pid <> pg_backend_pid() and wait_event_type = 'Lock'`);
    expect(await writing).toEqual({ kind: 'info', error: 'connection-lost' });
    await blocker.query('rollback');
    expect(await store.write('none', write(key, 2, 0))).toMatchObject({ kind: 'ok' });
    await store[Symbol.asyncDispose]();
  });

  it('is unknown when the connection is cut, whichever it goes over, and may have landed', async () => {
    const { key, store } = await fresh();
    await using blocker = await sql();
    for (const defence of ['none', 'row-lock']) await store.read(defence, { key });
    await blocker.query('begin; lock table audit in access exclusive mode');
    const writing = ALL.map((defence) => store.write(defence, write(key, 1, 0, 1)));
    await delay(50);
    store.cut();
    const outcomes = await Promise.all(writing);
    await blocker.query('rollback');
    expect(new Set(outcomes.map((outcome) => (outcome.kind === 'ok' ? 'ok' : outcome.error)))).toEqual(
      new Set(['connection-lost']),
    );
    expect(await store.read('none', { key })).toMatchObject({ kind: 'ok' });
    expect(await store.seal()).toMatchObject({ kind: 'ok' });
    for (const defence of ALL) {
      const landed = await audit(store, defence, key);
      const { value } = rowOf(await store.read(defence, { key }));
      expect([defence, value]).toEqual([defence, String(landed.length)]);
      await store.leave(key);
    }
    await store[Symbol.asyncDispose]();
  });

  it('refuses for certain what its transaction undid', async () => {
    const { store } = await fresh();
    expect(await store.write('none', write('no-such-key', 1, 0))).toEqual({
      kind: 'fail',
      error: 'sqlstate-P0002',
    });
    await store[Symbol.asyncDispose]();
  });

  it('cannot be opened when it is not there, or not prepared', async () => {
    const contents = { defences: ALL, keys: ['k1'], initialValue: '0' };
    const address = { host: server.host, commandTimeLimit: AMPLE };
    await expect(openStore({ ...address, port: 1 }, contents)).rejects.toThrow(HarnessError);
    await using admin = await sql();
    await admin.query('alter table register rename to elsewhere');
    await expect(openStore({ ...address, port: server.port }, contents)).rejects.toThrow('cannot be used');
    await admin.query('alter table elsewhere rename to register');
  });
});

describe('prepareStore', () => {
  it('can be repeated, and keeps what is there', async () => {
    const { key, store } = await fresh();
    await store.write('none', write(key, 1, 0));
    await prepareStore(server);
    expect(await store.read('none', { key })).toMatchObject({ value: { version: '1' } });
    await store[Symbol.asyncDispose]();
  });
});
