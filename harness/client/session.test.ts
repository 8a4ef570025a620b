// What a process does around its operations: polling, taking back unknown attempts, renewing, stopping; and that its
// choices depend on its seed alone (I6). The clock is the test's.

import { describe, expect, it } from 'vitest';
import { counter } from '../../workloads/counter.ts';
import { millis, type HistoryEvent } from '../history/op.ts';
import {
  fakeClock,
  fakeLocks,
  fakeStore,
  settled,
  tape,
  type FakeClock,
  type Scripted,
} from './fakes.fixture.ts';
import { openSession, runSessions, type ClientSession, type SessionOptions } from './session.ts';

const config: SessionOptions['config'] = {
  locks: ['k1', 'k2', 'k3'],
  defences: ['none', 'fence-on-write'],
  seed: '42',
  ttlMillis: millis(900),
  thinkMillis: { min: millis(10), max: millis(50) },
  idleMillis: { min: millis(1), max: millis(5) },
  pollMillis: { min: millis(5), max: millis(15) },
  patienceMillis: millis(100),
  cutWrites: 0,
  firstId: 1,
  idStep: 10,
};

interface Rig {
  readonly session: ClientSession;
  readonly clock: FakeClock;
  readonly events: HistoryEvent[];
  readonly calls: string[];
  readonly stop: () => void;
}

function rig(script: Scripted = {}, options: Partial<SessionOptions> = {}): Rig {
  const clock = fakeClock();
  const calls: string[] = [];
  const { events, recorder } = tape(fakeLocks(script, calls), fakeStore(script), () => clock.now());
  let stopping = false;
  const session = openSession({ config, recipe: {}, recorder, clock, stopping: () => stopping, ...options });
  return {
    session,
    clock,
    events,
    calls,
    stop: () => {
      stopping = true;
    },
  };
}

/** Each operation or notice as one word or two, in the order it was begun. */
function story(events: readonly HistoryEvent[]): string[] {
  return events
    .filter(({ type }) => type === 'invoke' || type === 'lost')
    .map((event) => (event.type === 'invoke' ? [event.op, event.lock ?? event.key].join(' ') : event.type));
}

describe('a section that is over', () => {
  it('gives back what the store keeps for it, before it gives back the lock', async () => {
    const left: string[] = [];
    const script: Scripted = {
      leave: (key) => left.push(key),
      release: () => {
        left.push('released');
        return undefined;
      },
    };
    const { session } = rig(script);
    const held = await session.acquire('k1');
    if (held === undefined) throw new Error('not granted');
    await session.read('none', 'k1', held);
    await session.read('other', 'k1', held);
    await session.release(held);
    expect(left).toEqual(['k1', 'released']);
  });
});

describe('a connection to the store', () => {
  it.each([
    [0, 0],
    [1, 3],
  ])('is lost in the middle of this part of the writes: %d', async (cutWrites, expected) => {
    let cuts = 0;
    const script: Scripted = { cut: () => (cuts += 1) };
    const { session, clock } = rig(script, { config: { ...config, cutWrites } });
    const held = await session.acquire('k1');
    if (held === undefined) throw new Error('not granted');
    const writing = Promise.all(
      [1, 2, 3].map((value) => session.write('none', 'k1', held, { value: String(value), base: '0' })),
    );
    await clock.elapse(10);
    await writing;
    expect(cuts).toBe(expected);
  });
});

/** Runs turns of the workload for a while of the test's time. */
async function load(
  seed: string,
  script: Scripted = {},
  options: Partial<SessionOptions> = {},
): Promise<Rig> {
  const run = rig(script, { config: { ...config, seed }, ...options });
  const running = runSessions(counter, run.session);
  await run.clock.elapse(2000);
  run.stop();
  await run.clock.elapse(1000);
  await running;
  return run;
}

function releases({ events }: Rig): string[] {
  return story(events).filter((word) => word.startsWith('release'));
}

describe('acquiring', () => {
  it('polls with jittered waits until granted', async () => {
    let attempts = 0;
    const { session, clock, events } = rig({
      acquire: () => ((attempts += 1) < 4 ? { kind: 'fail', error: 'busy' } : undefined),
    });
    const acquired = session.acquire('k1');
    await clock.elapse(60);
    expect((await acquired)?.lock).toBe('k1');
    const times = events.filter(({ type }) => type === 'invoke').map(({ time }) => time);
    const waits = times.slice(1).map((time, index) => (time - (times[index] ?? 0)) / 1e6);
    expect(waits).toHaveLength(3);
    for (const wait of waits) expect(wait).toSatisfy((value: number) => value >= 5 && value < 15);
    expect(new Set(waits).size).toBe(3);
  });

  it('gives up when its patience is over', async () => {
    const { session, clock, events } = rig({ acquire: () => ({ kind: 'fail', error: 'busy' }) });
    const acquired = session.acquire('k1');
    await clock.elapse(150);
    expect(await acquired).toBeUndefined();
    expect(events.at(-1)?.time).toBeLessThan(116e6);
  });

  it('gives up when it is told to stop', async () => {
    const { session, clock, stop } = rig({ acquire: () => ({ kind: 'fail', error: 'busy' }) });
    const acquired = session.acquire('k1');
    stop();
    await clock.elapse(20);
    expect(await acquired).toBeUndefined();
  });

  it('takes back an attempt of unknown outcome, then tries again as somebody else', async () => {
    let attempts = 0;
    const { session, clock, calls } = rig({
      acquire: () => ((attempts += 1) === 1 ? { kind: 'info', error: 'timeout' } : undefined),
    });
    const acquired = session.acquire('k1');
    await clock.elapse(20);
    await acquired;
    expect(calls).toEqual(['acquire c1-1', 'abandon c1-1', 'acquire c1-21']);
  });
});

describe('renewal', () => {
  const renewing = { recipe: { renewAt: 1 / 3 } };

  it('renews at the recipe’s fraction of the TTL while the lock is held, and not after', async () => {
    const { session, clock, events } = rig({}, renewing);
    const held = await session.acquire('k1');
    if (held === undefined) throw new Error('not granted');
    await clock.elapse(1000);
    const renewals = events.filter((event) => event.type === 'invoke' && event.op === 'renew');
    expect(renewals.map(({ time }) => time / 1e6)).toEqual([300, 600, 900]);
    await session.release(held);
    expect(clock.asleep).toBe(false);
    expect(story(events).at(-1)).toBe('release k1');
  });

  it('goes on after an unknown or refused renewal', async () => {
    const outcomes = [
      { kind: 'info', error: 'timeout' },
      { kind: 'fail', error: 'unavailable' },
    ] as const;
    let renewal = 0;
    const { session, clock, calls } = rig({ renew: () => outcomes[renewal++] }, renewing);
    const held = await session.acquire('k1');
    await clock.elapse(1000);
    expect(held?.lost).toBe(false);
    expect(calls.filter((call) => call.startsWith('renew'))).toHaveLength(3);
  });

  it('tells the session, once, when somebody else owns the lock', async () => {
    const { session, clock, events } = rig({ renew: () => ({ kind: 'fail', error: 'not-owner' }) }, renewing);
    const held = await session.acquire('k1');
    if (held === undefined) throw new Error('not granted');
    await clock.elapse(1000);
    expect(held.lost).toBe(true);
    expect(events.filter(({ type }) => type === 'lost')).toMatchObject([{ lock: 'k1', reason: 'not-owner' }]);
    await session.release(held);
    expect(story(events)).toEqual(['acquire k1', 'renew k1', 'lost', 'release k1']);
  });

  it('does nothing for a recipe without it', async () => {
    const { session, clock } = rig();
    await session.acquire('k1');
    expect(clock.asleep).toBe(false);
  });
});

describe('the counter', () => {
  it('reads, thinks, writes one more to every defence on the version read, releases', async () => {
    const { events } = await load('1');
    expect(events.length).toBeGreaterThan(300);
    const [, , ...section] = events.slice(0, 12);
    expect(
      story(events)
        .slice(0, 6)
        .map((word) => word.split(' ')[0]),
    ).toEqual(['acquire', 'read', 'read', 'write', 'write', 'release']);
    expect(section).toMatchObject([
      { type: 'invoke', op: 'read', store: 'none', token: 1n },
      { type: 'invoke', op: 'read', store: 'fence-on-write', token: 1n },
      { type: 'ok', value: '0', version: '0' },
      { type: 'ok', value: '0', version: '0' },
      { type: 'invoke', op: 'write', store: 'none', value: '1', base: '0', token: 1n },
      { type: 'invoke', op: 'write', store: 'fence-on-write', value: '1', base: '0', token: 1n },
      { type: 'ok', version: '1' },
      { type: 'ok', version: '1' },
      { type: 'invoke', op: 'release' },
      { type: 'ok', released: true },
    ]);
  });

  it('makes the same choices and waits with the same seed, others with another', async () => {
    const [one, again, other] = [await load('1'), await load('1'), await load('2')];
    expect(again.events).toEqual(one.events);
    expect(story(other.events)).not.toEqual(story(one.events));
  });

  it('chooses the same locks however often a lock was busy', async () => {
    let attempts = 0;
    const busy = await load('1', {
      acquire: () => ((attempts += 1) % 3 === 0 ? undefined : { kind: 'fail', error: 'busy' }),
    });
    const chosen = releases(await load('1'));
    expect(releases(busy).length).toBeGreaterThan(20);
    expect(releases(busy)).toEqual(chosen.slice(0, releases(busy).length));
  });

  it('takes the library’s own word that a grant is gone, once, and not for another grant', async () => {
    const { session, clock, events } = rig({}, { recipe: { renewAt: 1 / 3 } });
    const held = await session.acquire('k1');
    const grant = { lock: 'k1', ttlMillis: millis(900), owner: 'c1-1' };
    session.lost({ ...grant, owner: 'c1-0' }, 'of another attempt');
    expect(held?.lost).toBe(false);
    session.lost(grant, 'session-ended');
    session.lost(grant, 'once more');
    expect(held?.lost).toBe(true);
    await clock.elapse(2000);
    expect(story(events)).toEqual(['acquire k1', 'lost']);
    if (held !== undefined) await session.release(held);
    session.lost(grant, 'after the release');
    expect(story(events)).toEqual(['acquire k1', 'lost', 'release k1']);
  });

  it('does not write once it has been told that the lock is lost, but releases', async () => {
    const { events } = await load(
      '1',
      { renew: () => ({ kind: 'fail', error: 'not-owner' }) },
      {
        recipe: { renewAt: 1 / 3 },
        config: { ...config, thinkMillis: { min: millis(400), max: millis(400) } },
      },
    );
    expect(story(events).filter((word) => word.startsWith('write'))).toEqual([]);
    expect(story(events).filter((word) => word.startsWith('release')).length).toBeGreaterThan(3);
  });

  it('writes only where it could read', async () => {
    const { events } = await load('1', { read: () => ({ kind: 'info', error: 'timeout' }) });
    expect(story(events).filter((word) => word.startsWith('write'))).toEqual([]);
  });

  it('ends between two steps when told to stop', async () => {
    const { session, clock, events, stop } = rig();
    const running = runSessions(counter, session);
    await settled();
    stop();
    await clock.elapse(100);
    await running;
    expect(story(events).filter((word) => word.startsWith('release'))).toHaveLength(1);
  });
});

describe('other kinds of locks', () => {
  it('shares a lock, and says so', async () => {
    const { session, events } = rig();
    expect(await session.acquireShared('k1')).toBeDefined();
    expect(events[0]).toMatchObject({ op: 'acquire', shared: true });
    expect(await session.acquire('k2')).toBeDefined();
    expect(events.find((event) => 'lock' in event && event.lock === 'k2')).not.toHaveProperty('shared');
  });

  it('comes in again in the name of the attempt that was granted, and goes out as often', async () => {
    const { session, events, calls } = rig();
    const held = await session.acquire('k1');
    if (held === undefined) throw new Error('not granted');
    const inner = await session.reenter(held);
    if (inner === undefined) throw new Error('not granted again');
    await session.release(inner);
    await session.release(held);
    const owners = events.flatMap((event) => ('owner' in event ? [event.owner] : []));
    expect(owners).toHaveLength(2);
    expect(new Set(owners).size).toBe(1);
    expect(calls.map((call) => call.split(' ')[0])).toEqual(['acquire', 'acquire', 'release', 'release']);
  });

  it('is told once that a lock is lost that it had entered twice, and stops both times', async () => {
    const { session, events } = rig();
    const held = await session.acquire('k1');
    if (held === undefined) throw new Error('not granted');
    const inner = await session.reenter(held);
    const again = await session.reenter(held);
    if (inner === undefined || again === undefined) throw new Error('not granted again');
    await session.release(again);
    session.lost({ lock: 'k1', ttlMillis: millis(900), owner: 'c1-1' }, 'session-ended');
    expect([held.lost, inner.lost, again.lost]).toEqual([true, true, false]);
    expect(events.filter(({ type }) => type === 'lost')).toHaveLength(1);
  });

  it('cannot come in again where it is not any more', async () => {
    const { session } = rig();
    const held = await session.acquire('k1');
    if (held === undefined) throw new Error('not granted');
    await session.release(held);
    expect(() => session.reenter(held)).toThrow('which is not held');
  });
});
