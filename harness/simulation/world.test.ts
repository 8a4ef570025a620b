// A simulated world has its own time and chance, and nothing in it gets at those of the machine.

import { describe, expect, it } from 'vitest';
import { monotonicClock, monotonicOrigin, wallTime } from '../clock.ts';
import { millis } from '../history/op.ts';
import { EPOCH_MILLIS } from './wall-clock.ts';
import { openWorld } from './world.ts';

describe('a simulated world', () => {
  it.each([
    ['the time of day', () => Date['now']()],
    ['the time of day', () => new Date()],
    ['the time of day', () => Date()],
    ['chance', () => Math['random']()],
    ['a timer of the machine', () => setTimeout(() => undefined, 1)],
  ])('has not %s of the machine, neither at first nor later', async (what, ask) => {
    await expect(openWorld('1').during(async () => ask())).rejects.toThrow(what);
    const later = openWorld('1').during(async () => {
      await monotonicClock(monotonicOrigin()).sleep(millis(5_000));
      ask();
    });
    await expect(later).rejects.toThrow(what);
    expect(ask).not.toThrow();
  });

  it('has its own time, and dates of it', async () => {
    const world = openWorld('1');
    const [slept, date] = await world.during(async () => {
      const clock = monotonicClock(monotonicOrigin());
      await clock.sleep(millis(1_500));
      return [clock.now(), wallTime()];
    });
    expect(slept).toBe(1.5e9);
    expect(date).toBeInstanceOf(Date);
    expect(date.getTime()).toBe(EPOCH_MILLIS + 1_500);
  });

  it('ends, with an error, when nothing can happen any more', async () => {
    await expect(openWorld('1').during(() => new Promise(() => undefined))).rejects.toThrow('stands still');
    expect(Math['random']()).toBeLessThan(1);
  });
});
