// The time of sessions: none ends before its time-out, each at most one tick after it, and one that is over stays over.

import { describe, expect, it } from 'vitest';
import { openSessionTimes } from './sessions.ts';

const TICK = 200;
const ms = (count: number): number => count * 1e6;

/** When it is over, of looks at the end of every tick. */
function endOf(times: ReturnType<typeof openSessionTimes>, session: string): number {
  for (let now = 0; now < 10_000; now += TICK) if (times.over(ms(now)).includes(session)) return now;
  throw new Error('it never ends');
}

describe('the time of a session', () => {
  it.each([0, 1, 99, 199, 200, 350])('is not short and at most a tick long, begun at %d ms', (begun) => {
    const times = openSessionTimes(TICK);
    times.open(ms(begun), 's', 1_000);
    const lived = endOf(times, 's') - begun;
    expect(lived).toBeGreaterThan(1_000);
    expect(lived).toBeLessThanOrEqual(1_000 + TICK);
  });

  it('begins anew whenever the session is heard, and never ends earlier for it', () => {
    const times = openSessionTimes(TICK);
    times.open(ms(0), 's', 1_000);
    expect(times.touch(ms(900), 's')).toBe(true);
    expect(times.touch(ms(100), 's')).toBe(true);
    expect(endOf(times, 's')).toBe(2_000);
  });

  it('is over once', () => {
    const times = openSessionTimes(TICK);
    times.open(ms(0), 's', 400);
    expect(times.over(ms(2_000))).toEqual(['s']);
    expect(times.over(ms(2_000))).toEqual([]);
    expect(times.touch(ms(2_000), 's')).toBe(false);
    expect(times.has('s')).toBe(false);
  });

  it('begins anew for every session with a new leader, wherever it was', () => {
    const times = openSessionTimes(TICK);
    times.open(ms(0), 'forgotten', 1_000);
    times.restart(ms(900), new Map([['s', 1_000]]));
    expect(times.has('forgotten')).toBe(false);
    expect(endOf(times, 's')).toBe(2_000);
  });
});

describe('the server of a session', () => {
  it('is the first that asks, until the session moves', () => {
    const times = openSessionTimes(TICK);
    times.open(ms(0), 's', 1_000);
    expect(times.isWith('z1', 's')).toBe(true);
    expect(times.isWith('z2', 's')).toBe(false);
    times.move('z2', 's');
    expect(times.isWith('z1', 's')).toBe(false);
    expect(times.isWith('z2', 's')).toBe(true);
    expect(times.isWith('z1', 'none')).toBe(false);
  });
});
