// Redlock's arithmetic, with servers in memory: what makes a grant, what is given back, and what a release may claim.

import { describe, expect, it } from 'vitest';
import type { AcquireRequest, LockClient, Outcome } from '../../contract/lock-client.ts';
import { millis, nanos, nanosOf, type Nanos } from '../../history/op.ts';
import { granted } from '../arena.fixture.ts';
import { fakeRedis, type FakeRedis } from '../redis/fake-redis.fixture.ts';
import type { RedlockRecipe } from './port.ts';
import { redlockMinority } from './recipes/redlock-minority.ts';
import { redlockNoValidityCheck } from './recipes/redlock-no-validity-check.ts';
import { redlock } from './recipes/redlock.ts';

const DOWN: Outcome<never> = { kind: 'fail', error: 'unavailable' };
const SILENT: Outcome<never> = { kind: 'info', error: 'timeout' };
const TTL = millis(1000);

interface Rig {
  readonly servers: readonly FakeRedis[];
  readonly client: Omit<LockClient, keyof AsyncDisposable>;
  /** Of the client. */
  time: Nanos;
}

function rig(recipe: RedlockRecipe = redlock): Rig {
  const servers = Array.from({ length: 5 }, () => fakeRedis());
  const nodes = servers.map(({ port }, index) => ({ name: `r${index + 1}`, redis: port }));
  const clock = { time: nanos(0) };
  const client = recipe.lockClient(nodes, () => clock.time);
  return Object.assign(clock, { servers, client });
}

function request(owner: string): AcquireRequest {
  return { lock: 'k1', ttlMillis: TTL, owner };
}

/** The first `count` servers answer every command like this from now on. */
function hurt({ servers }: Rig, count: number, outcome: Outcome<never> | undefined): void {
  for (const server of servers.slice(0, count)) server.before = () => outcome;
}

function holders({ servers }: Rig): (string | null)[] {
  return servers.map((server) => server.get('lock:k1'));
}

describe('redlock', () => {
  it('is granted by five servers, until the TTL less 1 % and 2 ms', async () => {
    const outcome = await rig().client.acquire(request('a'));
    expect(granted(outcome).validUntil).toBe(nanosOf(millis(1000 - 10 - 2)));
    expect(outcome.votes).toEqual(
      ['r1', 'r2', 'r3', 'r4', 'r5'].map((node) => ({ node, answer: 'granted', at: 0 })),
    );
  });

  it('is granted by three, and says what the others answered', async () => {
    const voting = rig();
    hurt(voting, 2, DOWN);
    const { kind, votes } = await voting.client.acquire(request('a'));
    expect(kind).toBe('ok');
    expect(votes?.map(({ answer }) => answer)).toEqual([
      'unavailable',
      'unavailable',
      'granted',
      'granted',
      'granted',
    ]);
  });

  it('is refused by two, for certain, and given back there', async () => {
    const voting = rig();
    hurt(voting, 3, SILENT);
    expect(await voting.client.acquire(request('a'))).toMatchObject({ kind: 'fail', error: 'no-majority' });
    expect(holders(voting)).toEqual([null, null, null, null, null]);
  });

  it('says busy when another has votes, and takes none of them away', async () => {
    const voting = rig();
    granted(await voting.client.acquire(request('a')));
    expect(await voting.client.acquire(request('b'))).toMatchObject({ kind: 'fail', error: 'busy' });
    expect(holders(voting)).toEqual(['a', 'a', 'a', 'a', 'a']);
  });

  it('is refused when the votes took too long, and given back', async () => {
    const voting = rig();
    for (const server of voting.servers)
      server.before = () => {
        voting.time = nanosOf(millis(989));
        return undefined;
      };
    expect(await voting.client.acquire(request('a'))).toMatchObject({
      kind: 'fail',
      error: 'no-validity-left',
    });
    expect(holders(voting)).toEqual([null, null, null, null, null]);
  });

  it.each([
    ['three of our keys were there', 2, undefined, { kind: 'ok', value: { released: true } }],
    ['three of our keys were gone', 5, 'gone', { kind: 'ok', value: { released: false } }],
    ['too few answered', 3, 'silent', { kind: 'info', error: 'no-majority' }],
  ] as const)('a release: %s', async (_name, count, how, expected) => {
    const voting = rig();
    const grant = granted(await voting.client.acquire(request('a')));
    if (how === 'gone') for (const server of voting.servers) server.elapse(1001);
    else hurt(voting, count, how === 'silent' ? SILENT : DOWN);
    expect(await voting.client.release(grant)).toEqual(expected);
  });
});

describe('the flaws', () => {
  it('redlock-minority grants the lock to two clients', async () => {
    const voting = rig(redlockMinority);
    hurt(voting, 3, DOWN);
    granted(await voting.client.acquire(request('a')));
    hurt(voting, 3, undefined);
    expect(await voting.client.acquire(request('b'))).toMatchObject({ kind: 'ok' });
  });

  it('redlock-no-validity-check grants what has run out', async () => {
    const voting = rig(redlockNoValidityCheck);
    for (const server of voting.servers)
      server.before = () => {
        voting.time = nanosOf(millis(5000));
        return undefined;
      };
    expect(granted(await voting.client.acquire(request('a'))).validUntil).toBeLessThan(voting.time);
  });
});
