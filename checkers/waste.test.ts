// Ticks that ran twice or never, and what is no tick.

import { describe, expect, it } from 'vitest';
import { historyOf, step, type Step } from './scenario.fixture.ts';
import type { Waste } from './verdict.ts';
import { wasteOf } from './waste.ts';

let id = 0;
function ran(job: string, tick: number, type = 'ok'): Step {
  id += 1;
  const order = String(tick);
  return step(
    id,
    `c${id}`,
    'write',
    [10 * id, 10 * id + 5],
    { store: 'unique-constraint', key: job, value: order, order },
    { type },
  );
}

function waste(steps: readonly Step[], workload = 'cron'): Waste | undefined {
  return wasteOf(historyOf(steps, { meta: { workload } }));
}

describe('waste', () => {
  it('counts a tick that ran more than once as one, however often, and whatever the log said', () => {
    expect(waste([ran('k1', 4), ran('k1', 5), ran('k1', 5, 'fail'), ran('k1', 5, 'info')])).toEqual({
      ticks: 2,
      runs: 4,
      double: 1,
      missed: 0,
      doubleRate: 0.5,
      missedRate: 0,
    });
  });

  it('counts a tick that ran twice', () => {
    expect(waste([ran('k1', 4), ran('k1', 4)])).toMatchObject({ ticks: 1, runs: 2, double: 1 });
  });

  it('counts the ticks between the first and the last run of a job that never ran', () => {
    expect(waste([ran('k1', 4), ran('k1', 7), ran('k2', 6), ran('k2', 7)])).toMatchObject({
      ticks: 6,
      runs: 4,
      double: 0,
      missed: 2,
      missedRate: 2 / 6,
    });
  });

  it('is of jobs alone', () => {
    expect(waste([ran('k1', 4), ran('k1', 4)], 'counter')).toBeUndefined();
    expect(waste([])).toBeUndefined();
  });
});
