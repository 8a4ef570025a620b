// The harness watches itself: once a second the journal learns for how long our event loop stood still and how long
// processes waited for a processor. Where we stalled, a lock that was late proves nothing (`history/stalls.ts`).

import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { Clock } from '../clock.ts';
import { millis, type HarnessEvent, type Millis } from '../history/op.ts';

const EVERY_MILLIS = 1_000;
/** So often it is seen that the event loop goes on. */
const LOOK_EVERY_MILLIS = 10;
/** `man 5 proc`: /proc/stat counts in USER_HZ, which is 100 on every platform that Node runs on. */
const MILLIS_PER_TICK = 10;

/** Until it is disposed, which adds the last, shorter span. */
export function watchHarness(clock: Clock, append: (event: HarnessEvent) => void): Disposable {
  let since = clock.now();
  let waited = cpuWaited();
  let seenAt = since;
  let latest = 0;
  // Not `monitorEventLoopDelay`: after its `reset` it misses what begins before it looks for the first time.
  const look = (): void => {
    const now = clock.now();
    latest = Math.max(latest, (now - seenAt) / 1e6 - LOOK_EVERY_MILLIS);
    seenAt = now;
  };
  const sample = (): void => {
    look();
    const seen = cpuWaited();
    const cpuMillis = waited === undefined || seen === undefined ? undefined : seen.millis - waited.millis;
    append({
      type: 'harness',
      time: seenAt,
      since,
      loopDelayMillis: rounded(latest),
      ...(cpuMillis !== undefined && seen !== undefined && { [seen.field]: rounded(Math.max(0, cpuMillis)) }),
    });
    latest = 0;
    since = seenAt;
    waited = seen;
  };
  const timers = [setInterval(look, LOOK_EVERY_MILLIS), setInterval(sample, EVERY_MILLIS)];
  return {
    [Symbol.dispose]: () => {
      for (const timer of timers) clearInterval(timer);
      sample();
    },
  };
}

function rounded(value: number): Millis {
  return millis(Math.round(value * 1e3) / 1e3);
}

/** Since the machine started; undefined: the kernel does not say. */
function cpuWaited(): { field: 'cpuWaitMillis' | 'cpuStolenMillis'; millis: number } | undefined {
  const pressure = /^some .*total=(\d+)$/m.exec(textOf('/proc/pressure/cpu'));
  if (pressure !== null) return { field: 'cpuWaitMillis', millis: Number(pressure[1]) / 1e3 };
  // cpu user nice system idle iowait irq softirq steal …, of all processors together.
  const stolen = /^cpu +(?:\d+ ){7}(\d+)/m.exec(textOf('/proc/stat'));
  if (stolen === null) return undefined;
  return { field: 'cpuStolenMillis', millis: (Number(stolen[1]) * MILLIS_PER_TICK) / cpus().length };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
