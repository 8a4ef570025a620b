// The recipes against a Redis in memory: the contract they all keep, and the flaw of each one that is wrong on purpose,
// shown by the exact interleaving it needs.

import { describe, expect, it } from 'vitest';
import type { AcquireRequest, LockClient } from '../../contract/lock-client.ts';
import { millis } from '../../history/op.ts';
import { outcomeOfError } from './errors.ts';
import { granted, NEVER_LATE, type Arena } from '../arena.fixture.ts';
import { contractCases } from '../contract.fixture.ts';
import { fakeRedis, type FakeRedis } from './fake-redis.fixture.ts';
import type { RedisRecipe } from './port.ts';
import { constantValue } from './recipes/constant-value.ts';
import { reacquireInsteadOfLost } from './recipes/reacquire-instead-of-lost.ts';
import { renewAsUpsert } from './recipes/renew-as-upsert.ts';
import { renewBlind } from './recipes/renew-blind.ts';
import { tokenOnVolatileKey } from './recipes/token-on-volatile-key.ts';
import { tokenPerProcess } from './recipes/token-per-process.ts';
import { delUnconditional } from './recipes/del-unconditional.ts';
import { getThenDel } from './recipes/get-then-del.ts';
import { setNxPx } from './recipes/set-nx-px.ts';
import { setnxThenExpire } from './recipes/setnx-then-expire.ts';
import { SINGLE_SERVER_RECIPES } from './server.ts';

function open(recipe: RedisRecipe, redis: FakeRedis): LockClient {
  return { ...recipe.lockClient(redis.port, redis.now), [Symbol.asyncDispose]: async () => {} };
}

function request(owner: string): AcquireRequest {
  return { lock: 'k1', ttlMillis: millis(100), owner };
}

/** A holder whose lease ran out, and the one who was granted the lock after it. */
async function outlived(recipe: RedisRecipe) {
  const redis = fakeRedis();
  const late = open(recipe, redis);
  const next = open(recipe, redis);
  const expired = granted(await late.acquire(request('a')));
  redis.elapse(101);
  const held = granted(await next.acquire(request('b')));
  return { redis, late, next, expired, held };
}

const IN_MEMORY = { network: false };

function arena(recipe: RedisRecipe, redis: FakeRedis): Arena {
  const client = () => ({ locks: open(recipe, redis), losses: new Map() });
  return {
    recipe,
    first: client(),
    second: client(),
    now: redis.now,
    elapse: async (milliseconds) => redis.elapse(milliseconds),
    ttlMillis: millis(500),
    lateMillis: millis(2),
    timeLimitMillis: millis(500),
    stallMillis: millis(0),
    lateness: () => NEVER_LATE,
  };
}

describe.each(SINGLE_SERVER_RECIPES)('$name keeps the contract', (recipe) => {
  it.each(contractCases(recipe, IN_MEMORY))('$name', async ({ run }) => {
    await expect(run(arena(recipe, fakeRedis()))).resolves.toBeUndefined();
  });
});

describe.each(['DELIFEQ', 'DELEX'])('a server that offers %s', (command) => {
  it.each(contractCases(setNxPx, IN_MEMORY))('$name', async ({ run }) => {
    const redis = fakeRedis();
    redis.offered.add(command);
    const sent: string[] = [];
    redis.before = (name) => void sent.push(name);
    await expect(run(arena(setNxPx, redis))).resolves.toBeUndefined();
    expect(sent).not.toContain('EVAL');
  });
});

describe('every recipe passes on what it is told', () => {
  const told = [
    { kind: 'fail', error: 'loading' },
    { kind: 'info', error: 'timeout' },
  ] as const;
  const cases = SINGLE_SERVER_RECIPES.flatMap((recipe) => told.map((outcome) => ({ recipe, outcome })));
  it.each(cases)('$recipe.name: $outcome.kind', async ({ recipe, outcome }) => {
    const redis = fakeRedis();
    const client = open(recipe, redis);
    const grant = granted(await client.acquire(request('a')));
    redis.before = () => outcome;
    expect(await client.acquire(request('b'))).toEqual(outcome);
    expect(await client.release(grant)).toEqual(outcome);
    expect(await client.abandon(request('b'))).toEqual(outcome);
    expect((await client.renew?.(grant)) ?? outcome).toEqual(outcome);
  });
});

describe('a reply nobody knows', () => {
  it.each(SINGLE_SERVER_RECIPES)('$name: is no answer', async (recipe) => {
    const strange = recipe.lockClient(
      {
        command: async () => ({ kind: 'ok', value: ['?'] }),
        offers: async () => false,
        sequence: async (...sent) => sent.map(() => ({ kind: 'ok', value: ['?'] })),
        [Symbol.asyncDispose]: async () => {},
      },
      fakeRedis().now,
    );
    expect(await strange.acquire(request('a'))).toMatchObject({ kind: 'info' });
    expect(await strange.abandon(request('a'))).toMatchObject({ kind: 'info' });
  });
});

describe('the flaws', () => {
  it('del-unconditional removes the next holder', async () => {
    const redis = fakeRedis();
    const client = open(delUnconditional, redis);
    const late = granted(await client.acquire(request('a')));
    redis.elapse(101);
    granted(await client.acquire(request('b')));
    expect(await client.release(late)).toEqual({ kind: 'ok', value: {} });
    granted(await client.acquire(request('c')));
  });

  it('get-then-del removes whoever came between its two commands', async () => {
    const redis = fakeRedis();
    const client = open(getThenDel, redis);
    const late = granted(await client.acquire(request('a')));
    redis.before = (name) => {
      if (name === 'DEL') {
        redis.elapse(101);
        redis.set('lock:k1', 'b');
      }
      return undefined;
    };
    expect(await client.release(late)).toEqual({ kind: 'ok', value: {} });
    expect(redis.get('lock:k1')).toBeNull();
  });

  it('get-then-del sees another holder that is already there', async () => {
    const redis = fakeRedis();
    const client = open(getThenDel, redis);
    const late = granted(await client.acquire(request('a')));
    redis.elapse(101);
    granted(await client.acquire(request('b')));
    expect(await client.release(late)).toEqual({ kind: 'ok', value: { released: false } });
    expect(redis.get('lock:k1')).toBe('b');
  });

  it.each(['fail', 'info'] as const)(
    'setnx-then-expire leaves a lock for ever, and does not know whether it has it (PEXPIRE: %s)',
    async (kind) => {
      const redis = fakeRedis();
      const client = open(setnxThenExpire, redis);
      redis.before = (name) => (name === 'PEXPIRE' ? { kind, error: 'unavailable' } : undefined);
      expect(await client.acquire(request('a'))).toEqual({ kind: 'info', error: 'unavailable' });
      redis.elapse(1e6);
      expect(redis.get('lock:k1')).toBe('a');
      expect(redis.expiresAt('lock:k1')).toBeUndefined();
    },
  );
});

describe('the flaws of renewals, values and tokens', () => {
  it('constant-value removes the next holder', async () => {
    const { redis, late, expired } = await outlived(constantValue);
    expect(await late.release(expired)).toEqual({ kind: 'ok', value: {} });
    expect(redis.get('lock:k1')).toBeNull();
    expect(await late.release(expired)).toEqual({ kind: 'ok', value: { released: false } });
  });

  it('renew-blind extends the next holder, and is told that all is well', async () => {
    const { redis, late, expired } = await outlived(renewBlind);
    redis.elapse(90);
    expect(await late.renew?.(expired)).toMatchObject({ kind: 'ok' });
    redis.elapse(90);
    expect(redis.get('lock:k1')).toBe('b');
  });

  it('renew-as-upsert takes the lock away from the next holder', async () => {
    const { redis, late, next, expired, held } = await outlived(renewAsUpsert);
    expect(await late.renew?.(expired)).toMatchObject({ kind: 'ok' });
    expect(redis.get('lock:k1')).toBe('a');
    expect(await next.release(held)).toEqual({ kind: 'ok', value: { released: false } });
  });

  it('reacquire-instead-of-lost never says that others have held the lock', async () => {
    const { late, next, expired, held } = await outlived(reacquireInsteadOfLost);
    expect(await late.renew?.(expired)).toEqual({ kind: 'fail', error: 'busy' });
    await next.release(held);
    expect(await late.renew?.(expired)).toMatchObject({ kind: 'ok' });
    expect(await late.release(expired)).toEqual({ kind: 'ok', value: { released: true } });
  });

  it('token-per-process gives the second client the token of the first', async () => {
    const { expired, held } = await outlived(tokenPerProcess);
    expect([expired.token, held.token]).toEqual([1n, 1n]);
  });

  it('token-on-volatile-key starts again after a pause', async () => {
    const { redis, next, expired, held } = await outlived(tokenOnVolatileKey);
    expect([expired.token, held.token]).toEqual([1n, 1n]);
    redis.elapse(50);
    await next.release(held);
    expect(granted(await next.acquire(request('c'))).token).toBe(2n);
  });
});

describe('details', () => {
  it('asks for whole milliseconds, not fewer than the TTL', async () => {
    const redis = fakeRedis();
    await open(setNxPx, redis).acquire({ lock: 'k1', ttlMillis: millis(100.2), owner: 'a' });
    expect(redis.expiresAt('lock:k1')).toBe(101e6);
  });
});

describe('the error table', () => {
  it.each([
    ["READONLY You can't write against a read only replica.", 'fail', 'read-only'],
    ['LOADING Redis is loading the dataset in memory', 'fail', 'loading'],
    ['NOREPLICAS Not enough good replicas to write.', 'fail', 'too-few-replicas'],
    ['WRONGTYPE Operation against a key holding the wrong kind of value script: 1', 'info', 'wrong-type'],
    ['ERR something new', 'info', 'reply: ERR something new'],
    ['Connection is closed.', 'info', 'connection-lost'],
    ['read ECONNRESET', 'info', 'connection-lost'],
    ['READONLYISH', 'info', 'connection-lost'],
  ])('%s', (message, kind, error) => {
    expect(outcomeOfError(new Error(message))).toEqual({ kind, error });
  });
});
