// The real port and some recipes on a real Redis: the driver's traps (a reset or a time limit with a
// command in flight is `info`, nothing is sent twice, no ghost lock counts as `fail`), and the rows of the error table
// that a server can be made to give.

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { monotonicClock, monotonicOrigin } from '../../clock.ts';
import { DEFAULT_VARIANT } from '../../contract/backend.ts';
import type { AcquireRequest, LockClient, Recipe } from '../../contract/lock-client.ts';
import { millis } from '../../history/op.ts';
import { startServer, type ServerContainer } from '../../testing/container.fixture.ts';
import { startTcpProxy, type TcpProxy } from '../../testing/tcp-proxy.ts';
import { granted } from '../arena.fixture.ts';
import { openRedisPort } from './connection.ts';
import type { RedisPort } from './port.ts';
import { redisSingle } from './server.ts';

/** Where it is reached; a machine that stands still for as long reaches it elsewhere. */
const TIME_LIMIT = millis(2_000);
/** Of a client whose servers answer. */
const AMPLE = millis(30_000);
const clock = monotonicClock(monotonicOrigin());
const [spec] = redisSingle.servers({ variant: DEFAULT_VARIANT, ttlMillis: millis(1000) });

let server: ServerContainer;
/** Beside the one under test, and never in its way. */
let admin: RedisPort;

beforeAll(async () => {
  server = await startServer('redis', spec?.port ?? 0, ...(spec?.command ?? []));
  admin = openRedisPort(server, AMPLE);
});
afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

function open(
  recipe: Recipe,
  address: { readonly host: string; readonly port: number },
  commandTimeLimit = AMPLE,
): LockClient {
  return recipe.open({
    process: 'c1',
    servers: [{ name: 'r1', ...address }],
    commandTimeLimit,
    now: () => clock.now(),
    onLost: () => {},
  });
}

function recipeNamed(name: string): Recipe {
  const recipe = redisSingle.recipes.find((candidate) => candidate.name === name);
  if (recipe === undefined) throw new Error(`no recipe ${name}`);
  return recipe;
}

let attempts = 0;
function request(lock: string): AcquireRequest {
  attempts += 1;
  return { lock, ttlMillis: millis(600_000), owner: `owner-${attempts}` };
}

async function valueOf(key: string): Promise<unknown> {
  const reply = await admin.command('GET', key);
  return reply.kind === 'ok' ? reply.value : reply;
}

async function set(...settings: string[]): Promise<void> {
  expect(await admin.command('CONFIG', 'SET', ...settings)).toEqual({ kind: 'ok', value: 'OK' });
}

describe('a network that misbehaves', () => {
  let proxy: TcpProxy;
  let client: LockClient;

  beforeEach(async () => {
    await admin.command('FLUSHALL');
    proxy = await startTcpProxy(server);
    client = open(recipeNamed('set-nx-px'), proxy, TIME_LIMIT);
    // Opens the connection that the fault then hits.
    granted(await client.acquire(request('warm-up')));
  });
  afterEach(async () => {
    await client[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  });

  it('reset with a SET in flight: unknown, and what it left behind can be taken back', async () => {
    const attempt = request('k1');
    proxy.behave({ kind: 'reset-on-reply' });
    expect(await client.acquire(attempt)).toEqual({ kind: 'info', error: 'connection-lost' });
    expect(await valueOf('lock:k1')).toBe(attempt.owner);
    proxy.behave({ kind: 'pass' });
    expect(await client.acquire(request('k1'))).toEqual({ kind: 'fail', error: 'busy' });
    expect(await client.abandon(attempt)).toEqual({ kind: 'ok', value: { released: true } });
    granted(await client.acquire(request('k1')));
  });

  it('reset before the SET arrived: the same to the client, and it is never sent again', async () => {
    await admin.command('CONFIG', 'RESETSTAT');
    proxy.behave({ kind: 'reset-on-request' });
    expect(await client.acquire(request('k1'))).toEqual({ kind: 'info', error: 'connection-lost' });
    proxy.behave({ kind: 'pass' });
    granted(await client.acquire(request('k2')));
    await delay(500);
    expect(await valueOf('lock:k1')).toBeNull();
    const stats = await admin.command('INFO', 'commandstats');
    expect(stats).toMatchObject({ kind: 'ok', value: expect.stringContaining('cmdstat_set:calls=1,') });
  });

  it('a reply that is lost or late: unknown at the time limit, and never taken for the next one', async () => {
    for (const behaviour of [
      { kind: 'swallow-replies' },
      { kind: 'delay-replies', milliseconds: TIME_LIMIT + 200 },
    ] as const) {
      const attempt = request('k1');
      const connections = proxy.connections;
      proxy.behave(behaviour);
      const before = clock.now();
      expect(await client.acquire(attempt)).toEqual({ kind: 'info', error: 'timeout' });
      const took = (clock.now() - before) / 1e6;
      expect(took).toBeGreaterThanOrEqual(TIME_LIMIT - 1);
      expect(took).toBeLessThan(TIME_LIMIT + 10_000);
      proxy.behave({ kind: 'pass' });
      // "OK" to the SET is still on its way to the old connection; BUSY must not be mistaken for it.
      expect(await client.acquire(request('k1'))).toEqual({ kind: 'fail', error: 'busy' });
      expect(proxy.connections).toBe(connections + 1);
      expect(await client.abandon(attempt)).toEqual({ kind: 'ok', value: { released: true } });
    }
  });

  it('a SET that arrives after its client gave up: a ghost, which the client never called failed', async () => {
    const attempt = request('k1');
    proxy.behave({ kind: 'hold-requests' });
    expect(await client.acquire(attempt)).toEqual({ kind: 'info', error: 'timeout' });
    proxy.behave({ kind: 'pass' });
    expect(await client.abandon(attempt)).toEqual({ kind: 'ok', value: { released: false } });
    proxy.deliver();
    await expect.poll(() => valueOf('lock:k1')).toBe(attempt.owner);
    expect(await client.acquire(request('k1'))).toEqual({ kind: 'fail', error: 'busy' });
  });

  it('all commands in flight on a connection that is given up are unknown', async () => {
    proxy.behave({ kind: 'swallow-replies' });
    const first = client.acquire(request('k1'));
    await delay(TIME_LIMIT / 2);
    const second = client.acquire(request('k2'));
    expect(await first).toEqual({ kind: 'info', error: 'timeout' });
    expect(await second).toEqual({ kind: 'info', error: 'connection-lost' });
  });
});

describe('a server that is hurt', () => {
  let client: LockClient;

  beforeEach(async () => {
    await admin.command('FLUSHALL');
    client = open(recipeNamed('set-nx-px'), server, TIME_LIMIT);
    granted(await client.acquire(request('warm-up')));
  });
  afterEach(() => client[Symbol.asyncDispose]());

  it('stopped: unknown; the ghost may be granted when it wakes', async () => {
    await server.signal('STOP');
    const attempt = request('k1');
    try {
      expect(await client.acquire(attempt)).toEqual({ kind: 'info', error: 'timeout' });
    } finally {
      await server.signal('CONT');
    }
    await delay(100);
    expect([null, attempt.owner]).toContain(await valueOf('lock:k1'));
    expect(await client.abandon(attempt)).toMatchObject({ kind: 'ok' });
    granted(await client.acquire(request('k1')));
  });

  it('gone: refused for certain, and usable again after a restart that lost no lock', async () => {
    const held = granted(await client.acquire(request('k1')));
    await server.signal('KILL');
    expect(await client.acquire(request('k2'))).toMatchObject({
      error: expect.stringMatching(/unavailable|lost/),
    });
    const before = clock.now();
    expect(await client.acquire(request('k2'))).toEqual({ kind: 'fail', error: 'unavailable' });
    expect(await client.release(held)).toEqual({ kind: 'fail', error: 'unavailable' });
    expect((clock.now() - before) / 1e6).toBeLessThan(2 * TIME_LIMIT + 10_000);
    await server.start();
    await expect.poll(() => admin.command('PING')).toEqual({ kind: 'ok', value: 'PONG' });
    expect(await client.acquire(request('k1'))).toEqual({ kind: 'fail', error: 'busy' });
    expect(await client.release(held)).toEqual({ kind: 'ok', value: { released: true } });
  });
});

describe('del-unconditional', () => {
  it('removes another client’s lock, which a third one is then granted', async () => {
    const recipe = recipeNamed('del-unconditional');
    await using late = open(recipe, server);
    await using holder = open(recipe, server);
    await using third = open(recipe, server);
    const expired = granted(await late.acquire({ ...request('foreign'), ttlMillis: millis(50) }));
    await delay(60);
    const held = request('foreign');
    granted(await holder.acquire(held));
    expect(await late.release(expired)).toEqual({ kind: 'ok', value: {} });
    granted(await third.acquire(request('foreign')));
    expect(await valueOf('lock:foreign')).not.toBe(held.owner);
  });
});

describe('what the error table says is so', () => {
  beforeEach(() => admin.command('FLUSHALL'));

  it.each([
    { error: 'too-few-replicas', hurt: ['min-replicas-to-write', '1'], heal: ['min-replicas-to-write', '0'] },
    { error: 'out-of-memory', hurt: ['maxmemory', '1'], heal: ['maxmemory', '0'] },
  ])('$error: nothing was written, by a command or by a script', async ({ error, hurt, heal }) => {
    await using plain = open(recipeNamed('set-nx-px'), server);
    await using script = open(recipeNamed('fenced-incr'), server);
    await set(...hurt);
    try {
      expect(await plain.acquire(request('plain'))).toEqual({ kind: 'fail', error });
      expect(await script.acquire(request('script'))).toEqual({ kind: 'fail', error });
    } finally {
      await set(...heal);
    }
    expect(await valueOf('lock:plain')).toBeNull();
    expect(await valueOf('lock:script')).toBeNull();
    expect(await valueOf('token:script')).toBeNull();
  });

  it('read-only, primary-down: a replica refuses commands and scripts', async () => {
    await using plain = open(recipeNamed('set-nx-px'), server);
    await using script = open(recipeNamed('fenced-incr'), server);
    await admin.command('REPLICAOF', '127.0.0.1', '1');
    try {
      expect(await plain.acquire(request('plain'))).toEqual({ kind: 'fail', error: 'read-only' });
      expect(await script.acquire(request('script'))).toEqual({ kind: 'fail', error: 'read-only' });
      await set('replica-serve-stale-data', 'no');
      expect(await admin.command('GET', 'lock:plain')).toEqual({ kind: 'fail', error: 'primary-down' });
    } finally {
      await set('replica-serve-stale-data', 'yes');
      await admin.command('REPLICAOF', 'NO', 'ONE');
    }
  });

  it('busy-script: refused while somebody else’s script runs', async () => {
    await using client = open(recipeNamed('set-nx-px'), server);
    await using other = openRedisPort(server, AMPLE);
    await set('busy-reply-threshold', '20');
    const running = other.command('EVAL', 'while true do end', 0);
    await expect.poll(() => admin.command('PING')).toEqual({ kind: 'fail', error: 'busy-script' });
    expect(await client.acquire(request('k1'))).toEqual({ kind: 'fail', error: 'busy-script' });
    expect(await admin.command('SCRIPT', 'KILL')).toEqual({ kind: 'ok', value: 'OK' });
    expect(await running).toMatchObject({ kind: 'info' });
  });

  it('unknown-command, no-script: refused', async () => {
    expect(await admin.command('NO-SUCH-COMMAND')).toEqual({ kind: 'fail', error: 'unknown-command' });
    expect(await admin.command('EVALSHA', '0'.repeat(40), 0)).toEqual({ kind: 'fail', error: 'no-script' });
  });

  it('wrong-type: not definite, since a script has set the lock before it failed', async () => {
    await using script = open(recipeNamed('fenced-incr'), server);
    await admin.command('LPUSH', 'token:k1', 'not a counter');
    const attempt = request('k1');
    expect(await script.acquire(attempt)).toEqual({ kind: 'info', error: 'wrong-type' });
    expect(await valueOf('lock:k1')).toBe(attempt.owner);
  });
});
