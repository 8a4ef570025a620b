// What is recorded for each operation, word for word, and that the invocation is written before the request leaves.

import { describe, expect, it } from 'vitest';
import type { StoreClient } from '../contract/store.ts';
import { encodeEvent } from '../history/encode-event.ts';
import { decodeEvent } from '../history/decode-event.ts';
import { fencingToken, millis, nanos } from '../history/op.ts';
import { fakeLocks, fakeStore, tape } from './fakes.fixture.ts';

/** A clock that ticks once per look. */
function ticking(): () => ReturnType<typeof nanos> {
  let time = 0;
  return () => nanos((time += 1));
}

describe('the recorder', () => {
  it('writes each operation with what was asked and what came back', async () => {
    const { events, recorder } = tape(fakeLocks({}), fakeStore(), ticking());
    const { outcome } = await recorder.acquire('k1');
    if (outcome.kind !== 'ok') throw new Error('not granted');
    const register = { defence: 'none', key: 'k1', lock: 'k1', token: fencingToken('1') };
    await recorder.renew(outcome.value);
    await recorder.read(register);
    await recorder.write(register, { value: '1', base: '0' });
    await recorder.release(outcome.value);
    recorder.lost('k1', 'not-owner');
    const lock = { process: 'c1', lock: 'k1' };
    const store = { process: 'c1', store: 'none', key: 'k1', token: 1n };
    expect(events).toEqual([
      { type: 'invoke', id: 1, time: 1, ...lock, op: 'acquire', try: true, ttlMillis: 900, owner: 'c1-1' },
      { type: 'ok', id: 1, time: 2, process: 'c1', op: 'acquire', token: 1n, validUntil: 1 },
      { type: 'invoke', id: 11, time: 3, ...lock, op: 'renew', ttlMillis: 900 },
      { type: 'ok', id: 11, time: 4, process: 'c1', op: 'renew', validUntil: 2 },
      { type: 'invoke', id: 21, time: 5, ...store, op: 'read' },
      { type: 'ok', id: 21, time: 6, process: 'c1', op: 'read', value: '0', version: '0' },
      { type: 'invoke', id: 31, time: 7, ...store, op: 'write', value: '1', base: '0' },
      { type: 'ok', id: 31, time: 8, process: 'c1', op: 'write', version: '1' },
      { type: 'invoke', id: 41, time: 9, ...lock, op: 'release' },
      { type: 'ok', id: 41, time: 10, process: 'c1', op: 'release', released: true },
      { type: 'lost', time: 11, ...lock, reason: 'not-owner' },
    ]);
    expect(events.map((event) => decodeEvent(encodeEvent(event), 2))).toEqual(events);
  });

  it('writes what a relative defence is to add, to any other what the value was computed from, and the order', async () => {
    const sent: unknown[] = [];
    const store: StoreClient = {
      ...fakeStore(),
      read: async () => ({ kind: 'ok', value: { value: '5', version: '3', applied: true } }),
      write: async (_defence, { base, add, order }) => {
        sent.push({ base, add, order });
        return { kind: 'ok', value: { version: '4' } };
      },
    };
    const { events, recorder } = tape(fakeLocks({}), store, ticking());
    const place = { key: 'k1', lock: 'k1' };
    await recorder.read({ ...place, defence: 'none' }, '7');
    for (const defence of ['none', 'relative'])
      await recorder.write({ ...place, defence }, { value: '4', base: '3', add: '-1', order: '7' });
    const invoke = { type: 'invoke', key: 'k1', order: '7' };
    expect(events.filter(({ type }) => type === 'invoke')).toEqual([
      { ...invoke, id: 1, time: 1, process: 'c1', op: 'read', store: 'none' },
      { ...invoke, id: 11, time: 3, process: 'c1', op: 'write', store: 'none', value: '4', base: '3' },
      { ...invoke, id: 21, time: 5, process: 'c1', op: 'write', store: 'relative', value: '4', add: '-1' },
    ]);
    expect(events[1]).toMatchObject({ value: '5', version: '3', applied: true });
    expect(sent).toMatchObject([{ order: '7' }, { add: '-1', order: '7' }]);
    expect(events.map((event) => decodeEvent(encodeEvent(event), 2))).toEqual(events);
  });

  it('gives each attempt an owner never used before', async () => {
    const calls: string[] = [];
    const { recorder } = tape(
      fakeLocks({ acquire: () => ({ kind: 'fail', error: 'busy' }) }, calls),
      fakeStore(),
      ticking(),
    );
    for (let attempt = 0; attempt < 3; attempt++) await recorder.acquire('k1');
    expect(calls).toEqual(['acquire c1-1', 'acquire c1-11', 'acquire c1-21']);
  });

  it.each(['fail', 'info'] as const)(
    'writes %s with the word for it, and nothing that it was not told',
    async (kind) => {
      const refusal = () => ({ kind, error: 'word' });
      const script = { acquire: refusal, release: refusal, read: refusal };
      const { events, recorder } = tape(fakeLocks(script), fakeStore(script), ticking());
      const { request } = await recorder.acquire('k1');
      await recorder.release({ request });
      await recorder.read({ defence: 'none', key: 'k1', lock: 'k1' });
      const completions = events.filter(({ type }) => type !== 'invoke');
      expect(completions).toEqual([
        { type: kind, id: 1, time: 2, process: 'c1', op: 'acquire', error: 'word' },
        { type: kind, id: 11, time: 4, process: 'c1', op: 'release', error: 'word' },
        { type: kind, id: 21, time: 6, process: 'c1', op: 'read', error: 'word' },
      ]);
    },
  );

  it('says which token refused a stale write, and names the lock where the key has another name', async () => {
    const store: StoreClient = {
      ...fakeStore(),
      write: async () => ({ kind: 'fail', error: 'stale-token', highest: fencingToken('9') }),
    };
    const { events, recorder } = tape(fakeLocks({}), store, ticking());
    await recorder.write(
      { defence: 'fence-on-write', key: 'stock', lock: 'k1', token: fencingToken('7') },
      { value: '1', base: '0' },
    );
    expect(events[0]).toMatchObject({ op: 'write', lock: 'k1', key: 'stock', token: 7n });
    expect(events[1]).toMatchObject({ type: 'fail', error: 'stale-token', highest: 9n });
  });

  it('records who voted how, in the form that a reader gets back', async () => {
    const votes = [
      { node: 'r1', answer: 'granted', at: nanos(5) },
      { node: 'r2', answer: 'timeout', at: nanos(9) },
    ];
    const locks = {
      ...fakeLocks({}),
      acquire: async () => ({ kind: 'fail', error: 'no-majority', votes }) as const,
    };
    const { events, recorder } = tape(locks, fakeStore(), ticking());
    await recorder.acquire('k1');
    expect(events[1]).toMatchObject({ type: 'fail', error: 'no-majority', votes });
    expect(events.map((event) => decodeEvent(encodeEvent(event), 1))).toEqual(events);
  });

  it('records taking back an attempt as a release', async () => {
    const { events, recorder } = tape(fakeLocks({}), fakeStore(), ticking());
    await recorder.abandon({ lock: 'k1', ttlMillis: millis(900), owner: 'c1-1' });
    expect(events).toMatchObject([
      { type: 'invoke', op: 'release', lock: 'k1' },
      { type: 'ok', op: 'release', released: false },
    ]);
  });

  it('has written the invocation when the request leaves (I1), and stamps around it (I2)', async () => {
    const writtenAtRequest: number[] = [];
    const locks = fakeLocks({
      acquire: () => {
        writtenAtRequest.push(recorded.events.length);
        return { kind: 'fail', error: 'busy' };
      },
    });
    const recorded = tape(locks, fakeStore(), ticking());
    await recorded.recorder.acquire('k1');
    expect(writtenAtRequest).toEqual([1]);
    expect(recorded.events.map(({ time }) => time)).toEqual([1, 2]);
  });
});
