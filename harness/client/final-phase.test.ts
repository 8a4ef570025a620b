// The final phase: every lock is tried until it can be had, and every audit row is read, page by page.

import { describe, expect, it } from 'vitest';
import type { StoreClient } from '../contract/store.ts';
import { millis, type AuditRow } from '../history/op.ts';
import { fakeClock, fakeLocks, fakeStore, tape } from './fakes.fixture.ts';
import { readAll, tryEach } from './final-phase.ts';
import { openSession } from './session.ts';

const config = {
  locks: ['k1', 'k2'],
  defences: ['none'],
  seed: '1',
  ttlMillis: millis(900),
  thinkMillis: { min: millis(0), max: millis(0) },
  idleMillis: { min: millis(0), max: millis(0) },
  pollMillis: { min: millis(10), max: millis(10) },
  patienceMillis: millis(1),
  cutWrites: 0,
  firstId: 1,
  idStep: 10,
};

const ONE = { outside: ['none'], beside: [], keys: ['k1'] };

function row(seq: number): AuditRow {
  return { seq: String(seq), id: seq, process: 'c1', base: '0', version: '0', value: '1', accepted: true };
}

describe('tryEach', () => {
  it('goes on with each lock until granted or the time is up, though the load has been stopped', async () => {
    const clock = fakeClock();
    // Attempts alternate between the two locks; k1 comes free at 30 ms, k2 never.
    let attempts = 0;
    const locks = fakeLocks({
      acquire: () =>
        attempts++ % 2 === 0 && clock.now() >= 30e6 ? undefined : { kind: 'fail', error: 'busy' },
    });
    const { events, recorder } = tape(locks, fakeStore(), () => clock.now());
    const session = openSession({ config, recipe: {}, recorder, clock, stopping: () => true });
    const tried = tryEach(session, clock, ['k1', 'k2'], millis(35));
    await clock.elapse(100);
    await tried;
    const completed = events.filter(({ type }) => type === 'ok');
    expect(completed).toMatchObject([
      { op: 'acquire', time: 30e6 },
      { op: 'release', released: true },
    ]);
    expect(events.at(-1)?.time).toBe(30e6);
  });
});

describe('readAll', () => {
  const rows = Array.from({ length: 1200 }, (_, index) => row(index + 1));
  const store: StoreClient = {
    ...fakeStore(),
    audit: async (_defence, { key, after, limit }) => ({
      kind: 'ok',
      value: key === 'k1' ? rows.filter(({ seq }) => Number(seq) > Number(after)).slice(0, limit) : [],
    }),
  };

  it('reads every key of every defence, with at most 500 audit rows a read', async () => {
    const { events, recorder } = tape(fakeLocks({}), store, () => fakeClock().now());
    const registers = { outside: ['none'], beside: ['guarded'], keys: ['k1', 'k2'] };
    expect(await readAll(recorder, store, fakeClock(), registers)).toBeUndefined();
    const reads = events.flatMap((event) => (event.type === 'ok' ? [event.audit?.length] : []));
    expect(reads).toEqual([500, 500, 200, 0, 500, 500, 200, 0]);
    const seals = events.flatMap((event) => (event.type === 'ok' ? [event.sealed] : []));
    expect(seals).toEqual([true, true, true, true, undefined, undefined, undefined, undefined]);
    const read = events.flatMap((event) => (event.type === 'ok' ? (event.audit ?? []) : []));
    expect(read.slice(0, 1200)).toEqual(rows);
  });

  it('says where it could not read on', async () => {
    const gone: StoreClient = { ...store, audit: async () => ({ kind: 'info', error: 'timeout' }) };
    const { events, recorder } = tape(fakeLocks({}), gone, () => fakeClock().now());
    const clock = fakeClock();
    const problem = readAll(recorder, gone, clock, ONE);
    await clock.elapse(10_000);
    expect(await problem).toBe('final read of k1 in none: timeout');
    expect(events.at(-1)).toMatchObject({ type: 'info', op: 'read', error: 'timeout' });
  });

  it('reads nothing from a store in which writes may still land', async () => {
    const open: StoreClient = { ...store, seal: async () => ({ kind: 'fail', error: 'session-goes-on' }) };
    const { events, recorder } = tape(fakeLocks({}), open, () => fakeClock().now());
    const clock = fakeClock();
    const problem = readAll(recorder, open, clock, ONE);
    await clock.elapse(10_000);
    expect(await problem).toBe('sealing the store: session-goes-on');
    expect(events).toEqual([]);
  });

  it('asks a busy store again', async () => {
    let asked = 0;
    const busy: StoreClient = {
      ...store,
      audit: async (...request) =>
        (asked += 1) < 4 ? { kind: 'info', error: 'unavailable' } : store.audit(...request),
    };
    const { events, recorder } = tape(fakeLocks({}), busy, () => fakeClock().now());
    const clock = fakeClock();
    const problem = readAll(recorder, busy, clock, { ...ONE, keys: ['k2'] });
    await clock.elapse(10_000);
    expect(await problem).toBeUndefined();
    expect(events.filter(({ type }) => type !== 'invoke').map(({ type }) => type)).toEqual([
      'info',
      'info',
      'info',
      'ok',
    ]);
  });
});
