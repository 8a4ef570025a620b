// A user's client held to the contract: what it throws or leaves open is unknown, what makes no sense ends the run.

import { describe, expect, it } from 'vitest';
import type { Adapter } from '../contract/adapter.ts';
import { HarnessError } from '../contract/errors.ts';
import type { AcquireRequest, LockClient, RecipeContext } from '../contract/lock-client.ts';
import { fencingToken, millis, nanos } from '../history/op.ts';
import { openAdapter } from './adapter-client.ts';

const context: RecipeContext = {
  process: 'c1',
  servers: [],
  commandTimeLimit: millis(20),
  now: () => nanos(5_000_000_000),
  onLost: () => undefined,
};
const request: AcquireRequest = { lock: 'k1', ttlMillis: millis(100), owner: 'c1-1' };
const granted = { kind: 'ok', value: { request } } as const;
const done = { kind: 'ok', value: {} } as const;

function opened(methods: object, adapter: Partial<Adapter> = {}): LockClient {
  const client = {
    acquire: async () => granted,
    release: async () => done,
    abandon: async () => done,
    [Symbol.asyncDispose]: async () => undefined,
    ...methods,
  };
  return openAdapter(
    {
      name: 'mine',
      backend: 'redis-single',
      summary: '',
      polls: true,
      ownerChecked: true,
      open: () => client,
      ...adapter,
    },
    context,
  );
}

describe('a client of a user', () => {
  it('is passed on where it keeps the contract', async () => {
    const busy = { kind: 'fail', error: 'busy' } as const;
    const client = opened({ release: async () => busy, renew: async () => done });
    expect(await client.acquire(request)).toBe(granted);
    expect(await client.release({ request })).toBe(busy);
    expect(await client.renew?.({ request })).toBe(done);
    expect('renew' in opened({})).toBe(false);
  });

  it('has an unknown outcome when it throws, at once or later, and when it does not answer in time', async () => {
    const client = opened({
      acquire: () => Promise.reject(new Error('refused')),
      release: () => {
        throw new Error('at once');
      },
      abandon: () => new Promise(() => undefined),
      [Symbol.asyncDispose]: () => new Promise(() => undefined),
    });
    expect(await client.acquire(request)).toEqual({ kind: 'info', error: 'threw: Error: refused' });
    expect(await client.release({ request })).toEqual({ kind: 'info', error: 'threw: Error: at once' });
    expect(await client.abandon(request)).toEqual({ kind: 'info', error: 'timeout' });
    await client[Symbol.asyncDispose]();
  });

  it('that waits in the service has its patience, and one that does not has not', async () => {
    const slow = { acquire: () => new Promise((resolve) => setTimeout(() => resolve(granted), 60)) };
    expect(await opened(slow).acquire(request)).toEqual({ kind: 'info', error: 'timeout' });
    expect(await opened(slow, { polls: false }).acquire(request)).toBe(granted);
  });

  it.each([
    [undefined, /answered nothing/],
    [true, /no outcome/],
    [{ kind: 'yes' }, /no outcome/],
    [{ kind: 'ok' }, /no outcome/],
    [{ kind: 'fail' }, /no outcome/],
    [{ kind: 'ok', value: {} }, /must be the request/],
    [{ kind: 'ok', value: { request: { ...request, owner: 'x' } } }, /must be the request/],
    [{ kind: 'ok', value: { request, token: 7 } }, /must be a bigint/],
    [{ kind: 'ok', value: { request, validUntil: 1_780_000_000_000 } }, /nanoseconds on the clock/],
    [{ kind: 'ok', value: { request, validUntil: NaN } }, /nanoseconds on the clock/],
  ])('that answers %j ends the run as wrong input', async (answer, message) => {
    const client = opened({ acquire: async () => answer });
    const error: unknown = await client.acquire(request).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(HarnessError);
    expect(error).toMatchObject({ code: 'usage', message: expect.stringMatching(message) });
  });

  it('gives a token if its adapter says where it is from', async () => {
    const token = fencingToken('7');
    const answer = { kind: 'ok', value: { request, token } } as const;
    const client = opened({ acquire: async () => answer }, { tokenSource: 'INCR' });
    expect(await client.acquire(request)).toBe(answer);
    await expect(opened({}, { tokenSource: 'INCR' }).acquire(request)).rejects.toThrow('must be a bigint');
  });

  it.each([
    [{ acquire: 1 }, {}, 'no acquire()'],
    [{ abandon: undefined }, {}, 'no abandon()'],
    [{}, { renewAt: 0.3 }, 'no renew()'],
    [{ [Symbol.asyncDispose]: undefined }, {}, 'asyncDispose'],
  ])('without a method is refused when it is opened', (methods, adapter, message) => {
    expect(() => opened(methods, adapter)).toThrow(message);
  });

  it('that cannot be opened is refused', () => {
    expect(() => opened({}, { open: throwing })).toThrow('open() threw Error: no server');
  });
});

function throwing(): never {
  throw new Error('no server');
}
