// What the profiles come to: every catalogued cell, or those of each backend that say something within three minutes.

import { describe, expect, it } from 'vitest';
import { backends } from '../backends/index.ts';
import { catalogue, cellOf } from '../plan/catalogue.ts';
import { cellName } from '../plan/cell-name.ts';
import { plansOf } from '../commands/plans.ts';
import { plannedRun } from '../plan/planned-run.ts';
import { TELLING, type PROFILES } from './profiles.ts';

const plansIn = (profile: keyof typeof PROFILES) =>
  plansOf({ patterns: [], choices: new Map(), adapters: [], seed: '1', profile });

describe('smoke', () => {
  const plans = plansIn('smoke');

  it('has catalogued cells of every backend, with what is expected of them', () => {
    expect(new Set(plans.map(({ backend }) => backend))).toEqual(new Set(backends.map(({ name }) => name)));
    expect(plans.map((plan) => cellName(plan))).toEqual(TELLING.map(({ cell }) => cell));
    for (const plan of plans) expect(cellOf(plan), cellName(plan)).toBeDefined();
  });

  it('shows something bad of each backend', () => {
    const grades = Map.groupBy(plans, ({ backend }) => backend);
    for (const [backend, ofBackend] of grades)
      expect(new Set(ofBackend.map((plan) => cellOf(plan)?.expected.grade)), backend).not.toEqual(
        new Set(['safe']),
      );
  });

  it('has time for its faults, whatever the seed', async () => {
    for (const plan of plans)
      for (let seed = 0; seed < 30; seed++) {
        const { schedule } = await plannedRun({ ...plan, seed: String(seed) });
        expect(schedule.steps, `${cellName(plan)}, seed ${seed}`).not.toEqual([]);
      }
  });

  it('has a load that leaves time for the rest within three minutes', () => {
    const seconds = plans.reduce((sum, { timeLimitMillis }) => sum + timeLimitMillis / 1000, 0);
    expect(seconds + plans.length * 11).toBeLessThanOrEqual(180);
  });
});

describe('standard and nightly', () => {
  it.each([
    ['standard', 5],
    ['nightly', 20],
  ] as const)('%s has every catalogued cell with %d seeds', (profile, seeds) => {
    const plans = plansIn(profile);
    expect(plans).toHaveLength(catalogue.length * seeds);
    expect(new Set(plans.map((plan) => cellName(plan)))).toEqual(
      new Set(catalogue.map((cell) => cellName(cell))),
    );
    expect(new Set(plans.map(({ seed }) => seed)).size).toBe(seeds);
  });
});
