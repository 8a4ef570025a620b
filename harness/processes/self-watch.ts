// The harness watches itself: once a second the journal learns for how long our event loop stood still and how long
// processes waited for a processor. Where we stalled, a lock that was late proves nothing (`history/stalls.ts`).

import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../clock.ts';
import { millis, type HarnessEvent, type Millis } from '../history/op.ts';

const EVERY_MILLIS = 1_000;
/** The monitor looks so often, which is part of what it measures. */
const RESOLUTION_MILLIS = 10;
/** `man 5 proc`: /proc/stat counts in USER_HZ, which is 100 on every platform that Node runs on. */
const MILLIS_PER_TICK = 10;

/** Until it is disposed, which adds the last, shorter span. */
export function watchHarness(clock: Clock, append: (event: HarnessEvent) => void): Disposable {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MILLIS });
  delay.enable();
  let since = clock.now();
  let waited = cpuWaited();
  const sample = (): void => {
    const time = clock.now();
    const seen = cpuWaited();
    // The monitor runs in the same loop: of a stall that is just over it may not know yet, but this call was late.
    const late = (time - since) / 1e6 - EVERY_MILLIS;
    const monitored = delay.max / 1e6 - RESOLUTION_MILLIS;
    const cpuMillis = waited === undefined || seen === undefined ? undefined : seen.millis - waited.millis;
    append({
      type: 'harness',
      time,
      since,
      loopDelayMillis: rounded(Math.max(0, late, delay.count === 0 ? 0 : monitored)),
      ...(cpuMillis !== undefined && seen !== undefined && { [seen.field]: rounded(Math.max(0, cpuMillis)) }),
    });
    delay.reset();
    since = time;
    waited = seen;
  };
  const timer = setInterval(sample, EVERY_MILLIS);
  return {
    [Symbol.dispose]: () => {
      clearInterval(timer);
      sample();
      delay.disable();
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
