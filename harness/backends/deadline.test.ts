// The end of a lease as its holder counts it.

import { describe, expect, it } from 'vitest';
import { fakeClock } from '../client/fakes.fixture.ts';
import { nanos } from '../history/op.ts';
import { watchDeadline } from './deadline.ts';

const at = (milliseconds: number) => nanos(milliseconds * 1e6);

describe('watchDeadline', () => {
  it('tells once, as soon as the clock has passed it', async () => {
    const clock = fakeClock();
    const passed: number[] = [];
    watchDeadline(clock, at(100), () => passed.push(clock.now()));
    await clock.elapse(99);
    expect(passed).toEqual([]);
    await clock.elapse(500);
    expect(passed).toEqual([at(101)]);
  });

  it('waits on if it was extended, and is never shortened', async () => {
    const clock = fakeClock();
    let passed = 0;
    const deadline = watchDeadline(clock, at(100), () => (passed += 1));
    await clock.elapse(50);
    deadline.extendTo(at(300));
    deadline.extendTo(at(200));
    expect(deadline.at).toBe(at(300));
    await clock.elapse(240);
    expect(passed).toBe(0);
    await clock.elapse(20);
    expect(passed).toBe(1);
  });

  it('says nothing after disposal, and says at once what has passed already', async () => {
    const clock = fakeClock();
    let passed = 0;
    watchDeadline(clock, at(100), () => (passed += 1))[Symbol.dispose]();
    await clock.elapse(500);
    expect(passed).toBe(0);
    watchDeadline(clock, at(100), () => (passed += 1));
    expect(passed).toBe(1);
  });
});
