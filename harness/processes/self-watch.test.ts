// The self-watch against a real event loop: one that goes on is not accused, one that stands still is, whole.

import { describe, expect, it } from 'vitest';
import { stallsOf } from '../history/stalls.ts';
import { monotonicClock, monotonicOrigin } from '../clock.ts';
import { encodeEvent } from '../history/encode-event.ts';
import { decodeEvent } from '../history/json-lines.ts';
import { millis, type HarnessEvent } from '../history/op.ts';
import { watchHarness } from './self-watch.ts';

describe('the self-watch', () => {
  it('tells a second in which the event loop was blocked from one in which it was not', async () => {
    const clock = monotonicClock(monotonicOrigin());
    const events: HarnessEvent[] = [];
    let blockedFrom = 0;
    let blockedUntil = 0;
    {
      using _watch = watchHarness(clock, (event) => events.push(event));
      await clock.sleep(millis(1_050));
      blockedFrom = clock.now();
      while (clock.now() - blockedFrom < 1_500e6);
      blockedUntil = clock.now();
      await clock.sleep(millis(1_100));
    }
    const meetsBlock = ({ since, time }: HarnessEvent): boolean =>
      since <= blockedUntil && time >= blockedFrom;
    expect(Math.max(...events.filter(meetsBlock).map((event) => event.loopDelayMillis))).toBeGreaterThan(
      1_000,
    );
    const [stall] = stallsOf({ harness: events });
    expect(stall?.start).toBeLessThan(blockedFrom);
    expect(stall?.end).toBeGreaterThanOrEqual(blockedUntil);
    // Spans follow each other without a gap.
    expect(events.slice(1).map(({ since }) => since)).toEqual(events.slice(0, -1).map(({ time }) => time));
    expect(events[0]?.loopDelayMillis).toBeLessThan(1_000);
  });

  it('measures what a history can hold, with the processors of this machine where the kernel counts', async () => {
    const clock = monotonicClock(monotonicOrigin());
    const events: HarnessEvent[] = [];
    {
      using _watch = watchHarness(clock, (event) => events.push(event));
      await clock.sleep(millis(30));
    }
    expect(events).toHaveLength(1);
    for (const event of events) {
      expect(decodeEvent(encodeEvent(event), 1)).toEqual(event);
      const cpu = event.cpuWaitMillis ?? event.cpuStolenMillis ?? -1;
      expect(cpu >= 0).toBe(process.platform === 'linux');
    }
  });
});
