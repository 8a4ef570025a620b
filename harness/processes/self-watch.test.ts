// The self-watch against a real event loop: one that goes on is not accused, one that stands still is, whole.

import { describe, expect, it } from 'vitest';
import { stallsOf } from '../history/stalls.ts';
import { monotonicClock, monotonicOrigin } from '../clock.ts';
import { encodeEvent } from '../history/encode-event.ts';
import { decodeEvent } from '../history/decode-event.ts';
import { millis, type HarnessEvent } from '../history/op.ts';
import { watchLateness } from '../testing/lateness.fixture.ts';
import { watchHarness } from './self-watch.ts';

/** What a stall may be longer than the lateness of short sleeps beside it tells. */
const UNSEEN_MILLIS = 100;

describe('the self-watch', () => {
  it('tells a second in which the event loop was blocked from one in which it was not', async () => {
    const clock = monotonicClock(monotonicOrigin());
    const events: HarnessEvent[] = [];
    let blockedFrom = 0;
    let blockedUntil = 0;
    let latest = 0;
    {
      using lateness = watchLateness(clock);
      using _watch = watchHarness(clock, (event) => events.push(event));
      while (events.length === 0) await clock.sleep(millis(5));
      // On a busy machine the event loop does stand still.
      latest = lateness.latestMillis;
      // From right after a sample, when nobody has looked since.
      blockedFrom = clock.now();
      while (clock.now() - blockedFrom < 1_500e6);
      blockedUntil = clock.now();
      await clock.sleep(millis(1_100));
    }
    const [blocked] = events.filter(({ time }) => time >= blockedFrom);
    expect(blocked?.since).toBeLessThan(blockedFrom);
    expect(blocked?.loopDelayMillis).toBeGreaterThan(1_450);
    const stall = stallsOf({ harness: events }).find(({ end }) => end > blockedFrom);
    expect(stall?.start).toBeLessThan(blockedFrom);
    expect(stall?.end).toBeGreaterThanOrEqual(blockedUntil);
    // Spans follow each other without a gap.
    expect(events.slice(1).map(({ since }) => since)).toEqual(events.slice(0, -1).map(({ time }) => time));
    expect(events[0]?.loopDelayMillis).toBeLessThan(latest + UNSEEN_MILLIS);
  });

  it('measures what a history can hold, with the processors of this machine where the kernel counts', async () => {
    const clock = monotonicClock(monotonicOrigin());
    const events: HarnessEvent[] = [];
    {
      using _watch = watchHarness(clock, (event) => events.push(event));
      await clock.sleep(millis(30));
    }
    expect(events).not.toEqual([]);
    for (const event of events) {
      expect(decodeEvent(encodeEvent(event), 1)).toEqual(event);
      const cpu = event.cpuWaitMillis ?? event.cpuStolenMillis ?? -1;
      expect(cpu >= 0).toBe(process.platform === 'linux');
    }
  });
});
