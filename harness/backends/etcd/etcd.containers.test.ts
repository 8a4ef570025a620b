// etcd's own ways on a real cluster of three: a majority that is gone, the register whose writes are checked
// together with the lock, and how late each library path tells of a lost lease.

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_VARIANT } from '../../contract/backend.ts';
import type { AcquireRequest, Grant, Recipe } from '../../contract/lock-client.ts';
import { fencingToken, millis, nanosOf, type Millis, type Nanos } from '../../history/op.ts';
import { granted } from '../arena.fixture.ts';
import { watchLateness } from '../../testing/lateness.fixture.ts';
import { startStage, type Stage } from '../../testing/service-stage.ts';
import { openEtcdPort } from './connection.ts';
import type { EtcdPort } from './port.ts';
import { etcd } from './server.ts';

/** Of a lease whose end is not looked at. */
const AMPLE_TTL = millis(30_000);
/** Of a client whose servers answer. */
const AMPLE = millis(10_000);
const SHORT = millis(500);

let stage: Stage;
beforeAll(async () => {
  stage = await startStage(etcd, { variant: DEFAULT_VARIANT, ttlMillis: AMPLE_TTL, commandTimeLimit: AMPLE });
});
afterAll(() => stage[Symbol.asyncDispose]());

function recipeNamed(name: string): Recipe {
  const recipe = etcd.recipes.find((candidate) => candidate.name === name);
  if (recipe === undefined) throw new Error(`no recipe ${name}`);
  return recipe;
}

const tokenOf = ({ token }: Grant) => ({ token: fencingToken(String(token ?? 0n)) });

let attempts = 0;
function request(lock: string, ttlMillis = AMPLE_TTL): AcquireRequest {
  attempts += 1;
  return { lock, ttlMillis, owner: `owner-${attempts}`, patienceMillis: millis(20_000) };
}

function openPort(): EtcdPort {
  const servers = [...stage.cluster.nodes.values()].map(({ address }) => ({ host: address, port: 2379 }));
  return openEtcdPort(servers, { first: 0, timeLimit: AMPLE });
}

it('the lead goes to another member when that is ordered', async () => {
  const roles = await Promise.all(
    stage.nodes.map(async (node) => ({ node, seen: await etcd.roles?.ask(node) })),
  );
  const follower = roles.find(({ seen }) => seen?.role === 'follower')?.node;
  if (follower === undefined) throw new Error('nobody follows');
  expect(await etcd.roles?.promote?.(follower, stage.nodes)).toMatchObject({ promoted: follower.name });
  expect(await etcd.roles?.ask(follower)).toMatchObject({ role: 'leader' });
});

describe('members that are hurt', () => {
  it('a majority that is gone: nothing is granted, and nothing is called done', async () => {
    await using client = await stage.connect(recipeNamed('lease-queue'), millis(2_000));
    const held = granted(await client.locks.acquire(request('majority', millis(2_000))));
    const gone = ['e2', 'e3'].map((name) => stage.cluster.node(name));
    for (const node of gone) await node.signal('SIGKILL');
    try {
      expect(await client.locks.acquire(request('other'))).toEqual({ kind: 'fail', error: 'no-lease' });
      await expect.poll(() => client.losses.has(held.request.owner)).toBe(true);
      expect(await client.locks.release(held)).toMatchObject({ kind: expect.stringMatching(/fail|info/) });
    } finally {
      for (const node of gone) await node.start();
      for (const node of gone) await node.ready(millis(30_000));
    }
  });
});

describe('the register of lease-txn-guard', () => {
  it('refuses the write of a holder whose place is gone, keeps a record, and knows no other token', async () => {
    const recipe = recipeNamed('lease-txn-guard');
    await using late = await stage.connect(recipe);
    await using next = await stage.connect(recipe);
    const lock = 'guarded';
    const old = granted(await late.locks.acquire(request(lock, millis(4_000))));
    const write = { key: 'k1', process: 'c1' };
    const register = late.locks.register;
    expect(await register?.write({ ...write, id: 1, base: '0', value: 'a', ...tokenOf(old) })).toEqual({
      kind: 'ok',
      value: { version: '1' },
    });
    // Nothing renews it.
    const current = granted(await next.locks.acquire(request(lock)));
    const refused = { kind: 'fail', error: 'lock-lost' };
    expect(await register?.write({ ...write, id: 2, base: '1', value: 'b', ...tokenOf(old) })).toEqual(
      refused,
    );
    const other = { ...write, id: 3, base: '1', value: 'c', token: fencingToken('1') };
    expect(await next.locks.register?.write(other)).toEqual(refused);
    expect(
      await next.locks.register?.write({ ...write, id: 4, base: '1', value: 'd', ...tokenOf(current) }),
    ).toEqual({ kind: 'ok', value: { version: '2' } });
    expect(await register?.read({ key: 'k1' })).toEqual({ kind: 'ok', value: { value: 'd', version: '2' } });
    expect(await register?.read({ key: 'untouched' })).toEqual({
      kind: 'ok',
      value: { value: '0', version: '0' },
    });
    const record = await register?.audit({ key: 'k1', after: '0', limit: 10 });
    expect(record).toMatchObject({
      kind: 'ok',
      value: [
        { id: 1, base: '0', version: '0', value: 'a', accepted: true },
        { id: 2, base: '1', version: '1', value: 'b', accepted: false },
        { id: 4, base: '1', version: '1', value: 'd', accepted: true },
      ],
    });
    const [first] = record?.kind === 'ok' ? record.value : [];
    expect(await register?.audit({ key: 'k1', after: first?.seq ?? '', limit: 1 })).toMatchObject({
      kind: 'ok',
      value: [{ id: 2 }],
    });
  });
});

describe('what the error table says is so', () => {
  it('lease-gone: a put under a lease that has ended is not done', async () => {
    await using port = openPort();
    const leased = await port.grantLease(60);
    const lease = leased.kind === 'ok' ? leased.value.lease : '';
    expect(await port.revoke(lease)).toEqual({ kind: 'ok', value: { existed: true } });
    expect(await port.revoke(lease)).toEqual({ kind: 'ok', value: { existed: false } });
    expect(await port.keepAlive(lease)).toEqual({ kind: 'ok', value: { ttlSeconds: 0 } });
    const when = { key: 'put', createRevision: 0n };
    expect(await port.transact({ when, success: [{ kind: 'put', key: 'put', value: 'x', lease }] })).toEqual({
      kind: 'fail',
      error: 'lease-gone',
    });
    expect(await port.transact({ when, success: [{ kind: 'get', key: 'put' }] })).toMatchObject({
      kind: 'ok',
      value: { succeeded: true, found: [[]] },
    });
  });

  it('unavailable: refused for certain by a server that is not there', async () => {
    await using port = openEtcdPort([{ host: '127.0.0.1', port: 1 }], { first: 0, timeLimit: AMPLE });
    expect(await port.grantLease(1)).toEqual({ kind: 'fail', error: 'unavailable' });
  });

  it('timeout: a server that takes connections and says nothing', async () => {
    await using client = await stage.connect(recipeNamed('lease-queue'));
    client.network.cut();
    const servers = client.proxies.map(({ host, port }) => ({ host, port }));
    await using port = openEtcdPort(servers, { first: 0, timeLimit: SHORT });
    const before = stage.clock.now();
    expect(await port.grantLease(1)).toEqual({ kind: 'info', error: 'timeout' });
    expect(stage.clock.now() - before).toBeLessThan(nanosOf(AMPLE));
  });
});

/** When the key of the lock was deleted. */
async function endOf(port: EtcdPort, lock: string, name: string): Promise<Nanos> {
  const prefix = name === 'etcd3-lock' ? `lock/${lock}` : `lock/${lock}/`;
  for (;;) {
    const seen = await port.transact({
      when: { key: 'nowhere', createRevision: 0n },
      success: [{ kind: 'list', prefix }],
    });
    if (seen.kind === 'ok' && seen.value.found[0]?.length === 0) return stage.clock.now();
    await delay(20);
  }
}

interface Told {
  /** From the cut. */
  readonly afterMillis: number;
  /** From the end of the lock's key; negative: before it. */
  readonly lateMillis: number;
}

/** When its holder was told. */
async function told(name: string, ttlMillis: Millis): Promise<Told> {
  const recipe = recipeNamed(name);
  await using first = await stage.connect(recipe);
  const lock = `late-${name}`;
  const held = granted(await first.locks.acquire(request(lock, ttlMillis)));
  first.network.cut();
  const cutAt = stage.clock.now();
  const probe = openPort();
  const gone = await endOf(probe, lock, name);
  await probe[Symbol.asyncDispose]();
  await expect.poll(() => first.losses.has(held.request.owner)).toBe(true);
  const at = first.losses.get(held.request.owner) ?? 0;
  return { afterMillis: (at - cutAt) / 1e6, lateMillis: (at - gone) / 1e6 };
}

describe('how late a lost lease is told, of a client that is cut off', () => {
  it('ours: before the service ends it; the library: after twice the TTL', async () => {
    using lateness = watchLateness(stage.clock);
    const ttl = millis(2_000);
    const [ours, library] = await Promise.all([told('lease-queue', ttl), told('etcd3-lock', ttl)]);
    const words = [ours, library].map(({ lateMillis }) => `${lateMillis.toFixed(0)} ms`);
    console.log(`told of the end of a lease of 2 s: ours ${words[0]}, etcd3 ${words[1]} after it`);
    // A process that stood still meanwhile may have heard of both at once.
    expect(ours.lateMillis).toBeLessThan(lateness.latestMillis);
    // Whenever the service ended it: a new leader lets leases run once more in full.
    expect(library.afterMillis).toBeGreaterThan(1.5 * ttl);
  });
});
