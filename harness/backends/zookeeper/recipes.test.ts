// ZooKeeper's recipes over an ensemble in memory: the queue, the end of a session, and replies that are lost. On a real
// ensemble: `zookeeper.containers.test.ts`.

import { describe, expect, it } from 'vitest';
import { fakeClock, settled, type FakeClock } from '../../client/fakes.fixture.ts';
import type { AcquireRequest, Outcome } from '../../contract/lock-client.ts';
import { millis } from '../../history/op.ts';
import { contractCases } from '../contract.fixture.ts';
import { arenaInMemory, grantedNow, stateOf } from '../in-memory.fixture.ts';
import { isAnswer, outcomeOfError } from './errors.ts';
import { fakeZooKeeper, type FakeZooKeeper } from './fake-zookeeper.fixture.ts';
import type { ZooKeeperRecipe } from './port.ts';
import { ephemeralSequential } from './recipes/ephemeral-sequential.ts';
import { zkAllWatchHolder } from './recipes/zk-all-watch-holder.ts';
import { zkIgnoresSessionLoss } from './recipes/zk-ignores-session-loss.ts';
import { reentrant } from './recipes/reentrant.ts';
import { zkNoGuid } from './recipes/zk-no-guid.ts';
import { zkNoRecheck } from './recipes/zk-no-recheck.ts';
import { ZOOKEEPER_RECIPES } from './server.ts';

function open(recipe: ZooKeeperRecipe, clock: FakeClock, zooKeeper: FakeZooKeeper) {
  const losses: [owner: string, reason: string][] = [];
  const client = zooKeeper.client();
  const locks = recipe.lockClient(client.port, clock, ({ owner }, reason) => losses.push([owner, reason]));
  return { ...locks, losses, end: client.end.bind(client) };
}

const request = (owner: string, patience = 5_000): AcquireRequest => ({
  lock: 'k1',
  owner,
  ttlMillis: millis(1_000),
  patienceMillis: millis(patience),
});

const LOST: Outcome<never> = { kind: 'info', error: 'connection-lost' };

/** The queue's nodes, without their numbers. */
function queue(zooKeeper: FakeZooKeeper): string[] {
  return zooKeeper
    .paths()
    .filter((path) => path.startsWith('/lockpick/k1/'))
    .map((path) => path.slice('/lockpick/k1/'.length, -10));
}

describe.each(ZOOKEEPER_RECIPES)('$name keeps the contract', (recipe) => {
  it.each(contractCases(recipe, { network: false }))('$name', async ({ run }) => {
    const clock = fakeClock();
    const zooKeeper = fakeZooKeeper(clock);
    const arena = arenaInMemory(recipe, clock, (onLost) =>
      recipe.lockClient(zooKeeper.client().port, clock, onLost),
    );
    await expect(run(arena)).resolves.toBeUndefined();
  });
});

describe.each([ephemeralSequential, zkNoGuid, zkIgnoresSessionLoss])('$name', (recipe) => {
  it('grants in the order of arrival, each time with a greater token', async () => {
    const clock = fakeClock();
    const zooKeeper = fakeZooKeeper(clock);
    const [a, b, c] = [1, 2, 3].map(() => open(recipe, clock, zooKeeper));
    if (a === undefined || b === undefined || c === undefined) throw new Error('three clients');
    const first = await grantedNow(a.acquire(request('a')));
    const second = b.acquire(request('b'));
    await clock.elapse(10);
    const third = c.acquire(request('c'));
    await clock.elapse(3_000);
    expect(await stateOf(second)).toBe('waiting');
    expect(await a.release(first)).toEqual({ kind: 'ok', value: { released: true } });
    await clock.elapse(60);
    const next = await grantedNow(second);
    expect(await stateOf(third)).toBe('waiting');
    await b.end('expired');
    await clock.elapse(60);
    const last = await grantedNow(third);
    expect(next.token ?? 0n).toBeGreaterThan(first.token ?? 0n);
    expect(last.token ?? 0n).toBeGreaterThan(next.token ?? 0n);
    expect(await b.release(next)).toEqual({ kind: 'ok', value: { released: false } });
    expect(await c.release(last)).toEqual({ kind: 'ok', value: { released: true } });
  });

  it('gives up when its patience is over, and leaves nothing behind', async () => {
    const clock = fakeClock();
    const zooKeeper = fakeZooKeeper(clock);
    const [a, b] = [open(recipe, clock, zooKeeper), open(recipe, clock, zooKeeper)];
    await grantedNow(a.acquire(request('a')));
    const second = b.acquire(request('b', 300));
    await clock.elapse(400);
    expect(await stateOf(second)).toEqual({ kind: 'fail', error: 'busy' });
    expect(queue(zooKeeper)).toHaveLength(1);
  });

  it('fails for certain when its session ends while it waits', async () => {
    const clock = fakeClock();
    const zooKeeper = fakeZooKeeper(clock);
    const [a, b] = [open(recipe, clock, zooKeeper), open(recipe, clock, zooKeeper)];
    await grantedNow(a.acquire(request('a')));
    const second = b.acquire(request('b'));
    await clock.elapse(20);
    await b.end('deadline');
    await clock.elapse(100);
    expect(await stateOf(second)).toEqual({ kind: 'fail', error: 'session-ended' });
  });
});

describe('ephemeral-sequential', () => {
  it('tells that every lock of a session is lost when that has ended, once, and of no other', async () => {
    const clock = fakeClock();
    const client = open(ephemeralSequential, clock, fakeZooKeeper(clock));
    await grantedNow(client.acquire(request('a')));
    await grantedNow(client.acquire({ ...request('b'), lock: 'k2' }));
    await client.release(await grantedNow(client.acquire({ ...request('c'), lock: 'k3' })));
    await client.end('deadline');
    await settled();
    expect(client.losses).toEqual([
      ['a', 'session deadline'],
      ['b', 'session deadline'],
    ]);
  });

  it('finds its node when the reply of the create was lost', async () => {
    const clock = fakeClock();
    const zooKeeper = fakeZooKeeper(clock);
    const client = open(ephemeralSequential, clock, zooKeeper);
    await client.release(await grantedNow(client.acquire(request('warm-up'))));
    zooKeeper.after = (asked) => (asked === 'create' ? LOST : undefined);
    const grant = await grantedNow(client.acquire(request('a')));
    expect(queue(zooKeeper)).toEqual(['a-lock-']);
    expect(await client.release(grant)).toEqual({ kind: 'ok', value: { released: true } });
  });

  it('does not know what became of a create that it does not find, and takes it back when it turns up', async () => {
    const clock = fakeClock();
    const zooKeeper = fakeZooKeeper(clock);
    const client = open(ephemeralSequential, clock, zooKeeper);
    await client.release(await grantedNow(client.acquire(request('warm-up'))));
    zooKeeper.after = (asked) => (asked === 'create' || asked === 'children' ? LOST : undefined);
    const attempt = request('a');
    expect(await client.acquire(attempt)).toEqual(LOST);
    expect(queue(zooKeeper)).toEqual(['a-lock-']);
    zooKeeper.after = () => undefined;
    expect(await client.abandon(attempt)).toEqual({ kind: 'ok', value: {} });
    expect(queue(zooKeeper)).toEqual([]);
  });

  it('goes on removing its node until somebody answers', async () => {
    const clock = fakeClock();
    const zooKeeper = fakeZooKeeper(clock);
    const client = open(ephemeralSequential, clock, zooKeeper);
    const grant = await grantedNow(client.acquire(request('a')));
    zooKeeper.before = (asked) => (asked === 'remove' ? LOST : undefined);
    const release = client.release(grant);
    await clock.elapse(500);
    expect(await release).toEqual(LOST);
    expect(queue(zooKeeper)).toEqual(['a-lock-']);
    zooKeeper.before = () => undefined;
    await clock.elapse(100);
    expect(queue(zooKeeper)).toEqual([]);
  });
});

describe('reentrant', () => {
  const REENTRY = { lock: 'k1', owner: 'a', ttlMillis: millis(1_000) };

  it('comes in again by its own count: one node, which only the last release removes', async () => {
    const clock = fakeClock();
    const zooKeeper = fakeZooKeeper(clock);
    const client = open(reentrant, clock, zooKeeper);
    const outer = await grantedNow(client.acquire(request('a')));
    const inner = await grantedNow(client.acquire({ ...REENTRY }));
    expect(inner.token).toBe(outer.token);
    expect(queue(zooKeeper)).toEqual(['a-lock-']);
    expect(await client.release(inner)).toEqual({ kind: 'ok', value: { released: true } });
    expect(queue(zooKeeper)).toEqual(['a-lock-']);
    expect(await client.release(outer)).toEqual({ kind: 'ok', value: { released: true } });
    expect(queue(zooKeeper)).toEqual([]);
  });

  it('does not come in again when its session has ended, and says so when it goes out', async () => {
    const clock = fakeClock();
    const client = open(reentrant, clock, fakeZooKeeper(clock));
    await grantedNow(client.acquire(request('a')));
    const inner = await grantedNow(client.acquire({ ...REENTRY }));
    await client.end('expired');
    await settled();
    expect(client.losses).toEqual([['a', 'session expired']]);
    expect(await client.acquire({ ...REENTRY })).toEqual({ kind: 'fail', error: 'session-ended' });
    expect(await client.release(inner)).toEqual({ kind: 'ok', value: { released: false } });
  });

  it('has not come in again, for certain, when nobody answered; and has gone out when nobody did', async () => {
    const clock = fakeClock();
    const zooKeeper = fakeZooKeeper(clock);
    const client = open(reentrant, clock, zooKeeper);
    const outer = await grantedNow(client.acquire(request('a')));
    const inner = await grantedNow(client.acquire({ ...REENTRY }));
    zooKeeper.before = (asked) => (asked === 'stat' ? LOST : undefined);
    expect(await client.acquire({ ...REENTRY })).toEqual({ kind: 'fail', error: 'connection-lost' });
    expect(await client.release(inner)).toEqual(LOST);
    zooKeeper.before = () => undefined;
    expect(await client.release(outer)).toEqual({ kind: 'ok', value: { released: true } });
    expect(queue(zooKeeper)).toEqual([]);
  });
});

/** What a third client is told when the second one, which waited before it, gives up while the first one holds. */
async function afterOneGaveUp(recipe: ZooKeeperRecipe) {
  const clock = fakeClock();
  const zooKeeper = fakeZooKeeper(clock);
  await grantedNow(open(recipe, clock, zooKeeper).acquire(request('a')));
  const gaveUp = open(recipe, clock, zooKeeper).acquire(request('b', 300));
  await clock.elapse(10);
  const third = open(recipe, clock, zooKeeper).acquire(request('c'));
  await clock.elapse(500);
  expect(await gaveUp).toEqual({ kind: 'fail', error: 'busy' });
  return await stateOf(third);
}

describe('zk-no-recheck', () => {
  it('takes a lock that is held when one who only waited gives up; the right one goes on waiting', async () => {
    expect(await afterOneGaveUp(zkNoRecheck)).toMatchObject({ kind: 'ok' });
    expect(await afterOneGaveUp(ephemeralSequential)).toBe('waiting');
  });
});

/** How many of three who wait are granted the lock when its holder lets go. */
async function grantedAtOnce(recipe: ZooKeeperRecipe): Promise<number> {
  const clock = fakeClock();
  const zooKeeper = fakeZooKeeper(clock);
  const holder = open(recipe, clock, zooKeeper);
  const held = await grantedNow(holder.acquire(request('a')));
  const waiting = ['b', 'c', 'd'].map((owner) => open(recipe, clock, zooKeeper).acquire(request(owner)));
  await clock.elapse(100);
  await holder.release(held);
  await clock.elapse(100);
  const states = await Promise.all(waiting.map((one) => stateOf(one)));
  return states.filter((state) => state !== 'waiting').length;
}

describe('zk-all-watch-holder', () => {
  it('lets in all who wait when the holder lets go; the right one lets in one', async () => {
    expect(await grantedAtOnce(zkAllWatchHolder)).toBe(3);
    expect(await grantedAtOnce(ephemeralSequential)).toBe(1);
  });
});

describe('zk-no-guid', () => {
  it('is blocked by its own node when the reply of the create was lost', async () => {
    const clock = fakeClock();
    const zooKeeper = fakeZooKeeper(clock);
    const client = open(zkNoGuid, clock, zooKeeper);
    await client.release(await grantedNow(client.acquire(request('warm-up'))));
    let lost = 1;
    zooKeeper.after = (asked) => (asked === 'create' && lost-- > 0 ? LOST : undefined);
    const attempt = client.acquire(request('a', 300));
    await clock.elapse(500);
    expect(await stateOf(attempt)).toEqual({ kind: 'fail', error: 'busy' });
    expect(queue(zooKeeper)).toHaveLength(1);
    const other = open(ephemeralSequential, clock, zooKeeper).acquire(request('b', 10_000));
    await clock.elapse(9_000);
    expect(await stateOf(other)).toBe('waiting');
    await client.end('closed');
    await clock.elapse(60);
    await grantedNow(other);
  });
});

describe('zk-ignores-session-loss', () => {
  it('never says that anything is lost', async () => {
    const clock = fakeClock();
    const client = open(zkIgnoresSessionLoss, clock, fakeZooKeeper(clock));
    await grantedNow(client.acquire(request('a')));
    await client.end('expired');
    await settled();
    expect(client.losses).toEqual([]);
  });
});

describe('the error table', () => {
  it.each([
    ['NO_NODE', 'fail', 'no-node', true],
    ['NODE_EXISTS', 'fail', 'node-exists', true],
    ['CONNECTION_LOSS', 'info', 'connection-lost', false],
    ['SESSION_EXPIRED', 'info', 'session-expired', false],
    ['SYSTEM_ERROR', 'info', 'reply: SYSTEM_ERROR', true],
  ] as const)('%s', (name, kind, error, answer) => {
    expect(outcomeOfError({ name })).toEqual({ kind, error });
    expect(isAnswer({ name })).toBe(answer);
  });
});
