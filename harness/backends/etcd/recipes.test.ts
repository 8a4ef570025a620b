// etcd's recipes over a cluster in memory: the queue, the deadline of the holder, and what may be said of requests whose
// outcome is unknown. On real clusters: `etcd.containers.test.ts`.

import { describe, expect, it } from 'vitest';
import { fakeClock, type FakeClock } from '../../client/fakes.fixture.ts';
import type { AcquireRequest, Outcome } from '../../contract/lock-client.ts';
import { fencingToken, millis, nanos } from '../../history/op.ts';
import { contractCases } from '../contract.fixture.ts';
import { arenaInMemory, grantedNow, stateOf } from '../in-memory.fixture.ts';
import { outcomeOfError } from './errors.ts';
import { fakeEtcd, type FakeEtcd } from './fake-etcd.fixture.ts';
import type { EtcdRecipe } from './port.ts';
import { etcdIgnoresLeaseLoss } from './recipes/etcd-ignores-lease-loss.ts';
import { leaseQueue } from './recipes/lease-queue.ts';
import { leaseTxnGuard } from './recipes/lease-txn-guard.ts';
import { readWrite } from './recipes/read-write.ts';
import { semaphore } from './recipes/semaphore.ts';

function open(recipe: EtcdRecipe, clock: FakeClock, etcd: FakeEtcd) {
  const losses: [owner: string, reason: string, atMillis: number][] = [];
  const locks = recipe.lockClient(etcd.port, clock, ({ owner }, reason) =>
    losses.push([owner, reason, clock.now() / 1e6]),
  );
  return { ...locks, losses };
}

const request = (owner: string, patience = 5_000): AcquireRequest => ({
  lock: 'k1',
  owner,
  ttlMillis: millis(900),
  patienceMillis: millis(patience),
});

describe.each([leaseQueue, leaseTxnGuard, semaphore, readWrite, etcdIgnoresLeaseLoss])(
  '$name keeps the contract',
  (recipe) => {
    it.each(contractCases(recipe, { network: false }))('$name', async ({ run }) => {
      const clock = fakeClock();
      const etcd = fakeEtcd(clock);
      const arena = arenaInMemory(recipe, clock, (onLost) => recipe.lockClient(etcd.port, clock, onLost));
      await expect(run(arena)).resolves.toBeUndefined();
    });
  },
);

describe('lease-queue', () => {
  it('grants in the order of arrival, each time with a greater token', async () => {
    const clock = fakeClock();
    const etcd = fakeEtcd(clock);
    const client = open(leaseQueue, clock, etcd);
    const first = await grantedNow(client.acquire(request('a')));
    const second = client.acquire(request('b'));
    await clock.elapse(10);
    const third = client.acquire(request('c'));
    await clock.elapse(200);
    expect(await stateOf(second)).toBe('waiting');
    expect(await client.release(first)).toEqual({ kind: 'ok', value: { released: true } });
    await clock.elapse(50);
    const next = await grantedNow(second);
    expect(await stateOf(third)).toBe('waiting');
    await client.release(next);
    await clock.elapse(50);
    const last = await grantedNow(third);
    expect([first.token, next.token, last.token]).toEqual(
      [first.token, next.token, last.token].toSorted((a, b) => Number((a ?? 0n) - (b ?? 0n))),
    );
    expect(new Set([first.token, next.token, last.token]).size).toBe(3);
  });

  it('asks for whole seconds, and counts from before the request left', async () => {
    const clock = fakeClock();
    const client = open(leaseQueue, clock, fakeEtcd(clock));
    await clock.elapse(100);
    expect((await grantedNow(client.acquire(request('a')))).validUntil).toBe(nanos(1_100e6));
  });

  it('keeps its place while it waits for longer than the lease lasts', async () => {
    const clock = fakeClock();
    const etcd = fakeEtcd(clock);
    const client = open(leaseQueue, clock, etcd);
    const first = await grantedNow(client.acquire(request('a')));
    const second = client.acquire(request('b'));
    for (let tenth = 0; tenth < 30; tenth++) {
      await clock.elapse(100);
      await client.renew?.(first);
    }
    await client.release(first);
    await clock.elapse(50);
    const next = await grantedNow(second);
    expect(next.validUntil).toBeGreaterThan(clock.now());
  });

  it('gives up when its patience is over, and leaves nothing behind', async () => {
    const clock = fakeClock();
    const etcd = fakeEtcd(clock);
    const client = open(leaseQueue, clock, etcd);
    await grantedNow(client.acquire(request('a')));
    const second = client.acquire(request('b', 300));
    await clock.elapse(400);
    expect(await stateOf(second)).toEqual({ kind: 'fail', error: 'busy' });
    expect(etcd.keys()).toEqual(['lock/k1/a']);
  });

  it('tells that the lease is lost when its own deadline has passed, whatever the renewals say', async () => {
    const clock = fakeClock();
    const etcd = fakeEtcd(clock);
    const client = open(leaseQueue, clock, etcd);
    const grant = await grantedNow(client.acquire(request('a')));
    await clock.elapse(600);
    expect(await client.renew?.(grant)).toMatchObject({ kind: 'ok' });
    etcd.before = () => ({ kind: 'info', error: 'timeout' });
    await clock.elapse(500);
    expect(await client.renew?.(grant)).toEqual({ kind: 'info', error: 'timeout' });
    await clock.elapse(490);
    expect(client.losses).toEqual([]);
    await clock.elapse(20);
    expect(client.losses).toEqual([['a', 'deadline', 1_601]]);
  });

  it('is told that it is not the owner any more', async () => {
    const clock = fakeClock();
    const client = open(leaseQueue, clock, fakeEtcd(clock));
    const grant = await grantedNow(client.acquire(request('a')));
    await clock.elapse(1_100);
    expect(await client.renew?.(grant)).toEqual({ kind: 'fail', error: 'not-owner' });
    expect(await client.release(grant)).toEqual({ kind: 'ok', value: { released: false } });
  });

  it('says nothing about a lock that it has given back', async () => {
    const clock = fakeClock();
    const client = open(leaseQueue, clock, fakeEtcd(clock));
    await client.release(await grantedNow(client.acquire(request('a'))));
    await clock.elapse(5_000);
    expect(client.losses).toEqual([]);
  });

  it('calls an attempt failed only if no key can have been put', async () => {
    const clock = fakeClock();
    const etcd = fakeEtcd(clock);
    const client = open(leaseQueue, clock, etcd);
    etcd.after = (asked) => (asked === 'grantLease' ? { kind: 'info', error: 'timeout' } : undefined);
    expect(await client.acquire(request('a'))).toEqual({ kind: 'fail', error: 'no-lease' });
    etcd.after = (asked) => (asked === 'transact' ? { kind: 'info', error: 'timeout' } : undefined);
    const attempt = request('b');
    expect(await client.acquire(attempt)).toEqual({ kind: 'info', error: 'timeout' });
    expect(etcd.keys()).toEqual(['lock/k1/b']);
    etcd.after = () => undefined;
    expect(await client.abandon(attempt)).toEqual({ kind: 'ok', value: {} });
    expect(etcd.keys()).toEqual([]);
  });

  it('does not take a lock with a lease that has run out meanwhile', async () => {
    const clock = fakeClock();
    const etcd = fakeEtcd(clock);
    const client = open(leaseQueue, clock, etcd);
    await grantedNow(client.acquire(request('a')));
    const second = client.acquire(request('b'));
    await clock.elapse(10);
    // It cannot renew its place while it waits; the place before it is gone when it can ask again.
    etcd.before = (asked) =>
      asked === 'keepAlive' || asked === 'transact' ? { kind: 'info', error: 'timeout' } : undefined;
    await clock.elapse(1_500);
    etcd.before = () => undefined;
    await clock.elapse(100);
    expect(await stateOf(second)).toEqual({ kind: 'fail', error: 'lease-gone' });
  });
});

describe('read-write', () => {
  it('lets readers in together, who do not pass a writer that waits before them', async () => {
    const clock = fakeClock();
    const client = open(readWrite, clock, fakeEtcd(clock));
    const read = (owner: string): AcquireRequest => ({ ...request(owner), shared: true });
    const first = await grantedNow(client.acquire(read('r1')));
    const second = await grantedNow(client.acquire(read('r2')));
    const writer = client.acquire(request('w'));
    await clock.elapse(10);
    const third = client.acquire(read('r3'));
    await clock.elapse(100);
    expect([await stateOf(writer), await stateOf(third)]).toEqual(['waiting', 'waiting']);
    await client.release(second);
    await clock.elapse(50);
    expect(await stateOf(writer)).toBe('waiting');
    await client.release(first);
    await clock.elapse(50);
    const written = await grantedNow(writer);
    expect(await stateOf(third)).toBe('waiting');
    await client.release(written);
    await clock.elapse(50);
    expect((await grantedNow(third)).token ?? 0n).toBeGreaterThan(written.token ?? 0n);
  });
});

describe('semaphore', () => {
  it('gives a permit to who waits as soon as any of those before it is gone, in the order of arrival', async () => {
    const clock = fakeClock();
    const client = open(semaphore, clock, fakeEtcd(clock));
    const first = await grantedNow(client.acquire(request('a')));
    const second = await grantedNow(client.acquire(request('b')));
    const third = client.acquire(request('c', 900));
    await clock.elapse(10);
    const fourth = client.acquire(request('d', 900));
    await clock.elapse(100);
    expect([await stateOf(third), await stateOf(fourth)]).toEqual(['waiting', 'waiting']);
    await client.release(first);
    await clock.elapse(50);
    await grantedNow(third);
    expect(await stateOf(fourth)).toBe('waiting');
    await client.release(second);
    await clock.elapse(50);
    await grantedNow(fourth);
  });
});

describe('etcd-ignores-lease-loss', () => {
  it('never says that anything is lost', async () => {
    const clock = fakeClock();
    const etcd = fakeEtcd(clock);
    const client = open(etcdIgnoresLeaseLoss, clock, etcd);
    const grant = await grantedNow(client.acquire(request('a')));
    await clock.elapse(3_000);
    expect(etcd.keys()).toEqual(['lock/k1/a']);
    etcd.before = () => ({ kind: 'info', error: 'timeout' });
    await clock.elapse(3_000);
    etcd.before = () => undefined;
    expect(client.losses).toEqual([]);
    expect(await client.release(grant)).toEqual({ kind: 'ok', value: { released: false } });
  });
});

describe('lease-txn-guard', () => {
  it('writes as long as its place is there, and not after', async () => {
    const clock = fakeClock();
    const client = open(leaseTxnGuard, clock, fakeEtcd(clock));
    const { token } = await grantedNow(client.acquire(request('a')));
    const write = (id: number, base: string) =>
      client.register?.write({
        key: 'k',
        id,
        process: 'c1',
        base,
        value: `v${id}`,
        token: fencingToken(String(token)),
      });
    expect(await write(1, '0')).toEqual({ kind: 'ok', value: { version: '1' } });
    expect(await write(2, '1')).toEqual({ kind: 'ok', value: { version: '2' } });
    await clock.elapse(1_100);
    expect(await write(3, '2')).toEqual({ kind: 'fail', error: 'lock-lost' });
    expect(await client.register?.read({ key: 'k' })).toEqual({
      kind: 'ok',
      value: { value: 'v2', version: '2' },
    });
    expect(await client.register?.audit({ key: 'k', after: '0', limit: 5 })).toMatchObject({
      kind: 'ok',
      value: [
        { id: 1, version: '0', accepted: true },
        { id: 2, version: '1', accepted: true },
        { id: 3, version: '2', accepted: false },
      ],
    });
  });
});

describe('the error table', () => {
  it.each([
    ['14 UNAVAILABLE: No connection established. Last error: connect ECONNREFUSED', 'fail', 'unavailable'],
    ['14 UNAVAILABLE: Connection dropped', 'info', 'connection-lost'],
    [
      '14 UNAVAILABLE: etcdserver: request timed out, possibly due to connection lost',
      'info',
      'server-timeout',
    ],
    ['8 RESOURCE_EXHAUSTED: etcdserver: mvcc: database space exceeded', 'info', 'no-space'],
    ['2 UNKNOWN: raft proposal dropped', 'fail', 'no-leader'],
    ['5 NOT_FOUND: etcdserver: requested lease not found', 'fail', 'lease-gone'],
    ['13 INTERNAL: something new', 'info', 'reply: 13 INTERNAL: something new'],
  ] satisfies [string, Outcome<never>['kind'], string][])('%s', (message, kind, error) => {
    expect(outcomeOfError(new Error(message))).toEqual({ kind, error });
  });
});
