// What a lock for efficiency is there to save (workload `cron`): each tick of each job should run once. Counts ticks that
// ran twice and ticks that never ran. Both are waste, not corruption, so they are a measure beside the grade and never
// part of it. Pure.
//
// A run is a write to the run log: it is sent when the work has been done, whatever the log then says. The tick is the
// order that it carries, and ticks are numbered without gaps; so a number between the first and the last run of a job
// for which nothing was sent is a tick that was missed. What came before and after may have been cut off by the run.

import type { History } from '../harness/history/history.ts';
import { registersOf } from './audit.ts';
import type { Waste } from './verdict.ts';

/** undefined: the history is not of this workload, or nothing ran. O(n log n). */
export function wasteOf(history: History): Waste | undefined {
  if (history.header.meta.workload !== 'cron') return undefined;
  const waste = { ticks: 0, runs: 0, double: 0, missed: 0 };
  for (const { writes } of registersOf(history)) {
    const runs = new Map<number, number>();
    for (const { order } of writes) {
      const tick = Number(order);
      if (Number.isSafeInteger(tick)) runs.set(tick, (runs.get(tick) ?? 0) + 1);
    }
    if (runs.size === 0) continue;
    const numbers = [...runs.keys()].sort((a, b) => a - b);
    const ticks = (numbers.at(-1) ?? 0) - (numbers[0] ?? 0) + 1;
    waste.ticks += ticks;
    waste.missed += ticks - runs.size;
    for (const count of runs.values()) {
      waste.runs += count;
      if (count > 1) waste.double += 1;
    }
  }
  if (waste.ticks === 0) return undefined;
  return { ...waste, doubleRate: waste.double / waste.ticks, missedRate: waste.missed / waste.ticks };
}
