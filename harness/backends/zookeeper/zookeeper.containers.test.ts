// ZooKeeper's own ways on a real ensemble of three: sessions, creates whose replies are lost, and how
// late each library path tells that a session has ended.

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_VARIANT } from '../../contract/backend.ts';
import type { AcquireRequest, Recipe } from '../../contract/lock-client.ts';
import { millis, type Millis, type Nanos } from '../../history/op.ts';
import { granted } from '../arena.fixture.ts';
import { watchLateness } from '../../testing/lateness.fixture.ts';
import { startStage, type Stage } from '../../testing/service-stage.ts';
import { openZooKeeperPort } from './connection.ts';
import { loadDriver } from './driver.ts';
import type { ZooKeeperPort, ZooKeeperSession } from './port.ts';
import { zookeeper } from './server.ts';

const TTL = millis(1_000);
/** Of a session whose end is not looked at. */
const AMPLE_TTL = millis(30_000);
/** Of a client whose servers answer. */
const AMPLE = millis(10_000);

let stage: Stage;
beforeAll(async () => {
  stage = await startStage(zookeeper, {
    variant: DEFAULT_VARIANT,
    ttlMillis: AMPLE_TTL,
    commandTimeLimit: AMPLE,
  });
});
afterAll(() => stage[Symbol.asyncDispose]());

function recipeNamed(name: string): Recipe {
  const recipe = zookeeper.recipes.find((candidate) => candidate.name === name);
  if (recipe === undefined) throw new Error(`no recipe ${name}`);
  return recipe;
}

let attempts = 0;
function request(lock: string, ttlMillis = TTL): AcquireRequest {
  attempts += 1;
  return { lock, ttlMillis, owner: `owner-${attempts}`, patienceMillis: AMPLE };
}

function openPort(
  servers: readonly { readonly host: string; readonly port: number }[] = addresses(),
  timeLimit = AMPLE,
): ZooKeeperPort {
  return openZooKeeperPort({ servers, timeLimit, clock: stage.clock });
}

function addresses(): { host: string; port: number }[] {
  return [...stage.cluster.nodes.values()].map(({ address }) => ({ host: address, port: 2181 }));
}

async function openSession(port: ZooKeeperPort, ttlMillis = AMPLE_TTL): Promise<ZooKeeperSession> {
  const opened = await port.session(ttlMillis);
  if (opened.kind !== 'ok') throw new Error(`no session: ${opened.error}`);
  return opened.value;
}

/** It comes, or the test ends at its time limit. */
async function until<T>(get: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const value = await get();
    if (value !== undefined) return value;
    await delay(10);
  }
}

describe('a session', () => {
  it('has its node’s czxid and owner, and forgets both when the node is gone', async () => {
    await using port = openPort();
    const session = await openSession(port);
    expect(session.id).toMatch(/^[0-9a-f]{16}$/);
    expect(await session.create('/session-test', 'persistent')).toEqual({
      kind: 'ok',
      value: '/session-test',
    });
    const created = await session.create('/session-test/n-', 'ephemeral-sequential');
    expect(created).toEqual({ kind: 'ok', value: '/session-test/n-0000000000' });
    const path = created.kind === 'ok' ? created.value : '';
    expect(await session.stat(path)).toEqual({
      kind: 'ok',
      value: { owner: session.id, createdBy: expect.any(BigInt) },
    });
    const gone = session.gone(path, AMPLE);
    await using other = openPort();
    const removed = await (await openSession(other)).remove(path);
    expect(removed).toEqual({ kind: 'ok', value: { existed: true } });
    await gone;
    expect(await session.stat(path)).toEqual({ kind: 'ok', value: undefined });
    expect(await session.remove(path)).toEqual({ kind: 'ok', value: { existed: false } });
  });

  it('goes on with another server when its own falls silent', async () => {
    await using client = await stage.connect(recipeNamed('ephemeral-sequential'));
    const servers = client.proxies.map(({ host, port }) => ({ host, port }));
    await using port = openPort(servers);
    // Silence is noticed when a third of this has gone by without an answer.
    const session = await openSession(port, millis(6_000));
    const own = client.proxies.find(({ connections }) => connections > 0);
    const others = client.proxies.filter((proxy) => proxy !== own);
    own?.behave({ kind: 'cut' });
    await expect.poll(() => others.some(({ connections }) => connections > 0)).toBe(true);
    expect(await session.stat('/')).toMatchObject({ kind: 'ok' });
    expect(await port.session(AMPLE_TTL)).toEqual({ kind: 'ok', value: session });
  });

  it('ends at its deadline when it hears nothing, and is replaced by a new one', async () => {
    await using client = await stage.connect(recipeNamed('ephemeral-sequential'));
    const servers = client.proxies.map(({ host, port }) => ({ host, port }));
    await using port = openPort(servers, millis(500));
    const session = await until(async () => await openSession(port, millis(2_000)).catch(() => undefined));
    using lateness = watchLateness(stage.clock);
    client.network.cut();
    const cutAt = stage.clock.now();
    expect(await session.ended).toBe('deadline');
    const tookMillis = (stage.clock.now() - cutAt) / 1e6;
    expect(tookMillis).toBeLessThan(2_300 + lateness.latestMillis);
    expect(await session.stat('/')).toEqual({ kind: 'fail', error: 'session-ended' });
    expect(await port.session(millis(2_000))).toEqual({ kind: 'fail', error: 'unavailable' });
    client.network.heal();
    const next = await until(async () => await openSession(port).catch(() => undefined));
    expect(next.id).not.toBe(session.id);
  });
});

/** Creates are carried out, replies are lost; the heal comes before the session ends. */
async function losesReply(
  name: string,
  patienceMillis: Millis,
): Promise<{ outcome: string; left: readonly string[] }> {
  await using client = await stage.connect(recipeNamed(name));
  await using port = openPort();
  const watcher = await openSession(port);
  const lock = `lost-${name}`;
  const children = async (): Promise<readonly string[]> => {
    await watcher.sync();
    const found = await watcher.children(`/lockpick/${lock}`);
    return found.kind === 'ok' ? found.value : [found.error];
  };
  const warmUp = granted(await client.locks.acquire(request(lock, AMPLE_TTL)));
  await client.locks.release(warmUp);
  expect(await children()).toEqual([]);
  client.network.deafen();
  const asked = client.locks.acquire({ ...request(lock, AMPLE_TTL), patienceMillis });
  await expect.poll(children).toHaveLength(1);
  client.network.heal();
  const outcome = await asked;
  if (outcome.kind === 'ok') await client.locks.release(outcome.value);
  return { outcome: outcome.kind, left: await children() };
}

describe('a create whose reply was lost', () => {
  it('with a value of its own in the name: found, granted, and nothing is left behind', async () => {
    expect(await losesReply('ephemeral-sequential', millis(20_000))).toEqual({ outcome: 'ok', left: [] });
  });

  it('without: blocked by its own node, which nobody removes', async () => {
    const { outcome, left } = await losesReply('zk-no-guid', millis(1_000));
    expect(outcome).toBe('fail');
    expect(left).toHaveLength(1);
  });
});

describe('how late the end of a session is told, of a client that is cut off', () => {
  const lock = 'late';

  it('ours: before the ensemble ends it; the library: not within five times the time-out', async () => {
    await using ours = await stage.connect(recipeNamed('ephemeral-sequential'));
    await using network = await stage.connect(recipeNamed('ephemeral-sequential'));
    await using probe = openPort();
    const watcher = await openSession(probe);
    const { createClient } = await loadDriver();
    const servers = network.proxies.map(({ host, port }) => `${host}:${port}`).join(',');
    const library = createClient(servers, { sessionTimeout: TTL, spinDelay: 50, retries: 0 });
    let libraryTold: Nanos | undefined;
    using lateness = watchLateness(stage.clock);
    const held = granted(await ours.locks.acquire(request(lock)));
    await new Promise<void>((resolve) => {
      library.once('connected', resolve);
      library.connect();
    });
    for (const event of ['disconnected', 'expired'] as const)
      library.once(event, () => (libraryTold ??= stage.clock.now()));

    ours.network.cut();
    network.network.cut();
    const gone = await until(async () => {
      const children = await watcher.children(`/lockpick/${lock}`);
      return children.kind === 'ok' && children.value.length === 0 ? stage.clock.now() : undefined;
    });
    const told = await until(() => ours.losses.get(held.request.owner));
    await delay(5 * TTL);
    console.log(
      `told of the end of a session of 1 s: ours ${((told - gone) / 1e6).toFixed(0)} ms after it, ` +
        `node-zookeeper-client ${libraryTold === undefined ? 'not within 5 s' : `${(libraryTold - gone) / 1e6} ms`}`,
    );
    // A process that stood still meanwhile may have heard of both at once.
    expect(told).toBeLessThan(gone + lateness.latestMillis * 1e6);
    expect(libraryTold).toBeUndefined();
    // When it hears of the expiry it is done by itself.
    const expired = new Promise<void>((resolve) => {
      library.once('expired', resolve);
    });
    network.network.heal();
    await expired;
  });
});
