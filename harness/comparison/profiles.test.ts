// What the profiles come to: every catalogued cell, or one of each backend that says something within three minutes.

import { describe, expect, it } from 'vitest';
import { backends } from '../backends/index.ts';
import { catalogue, cellOf } from '../catalogue.ts';
import { cellName } from '../cell-name.ts';
import { plansOf } from '../commands/plans.ts';
import { TELLING, type PROFILES } from './profiles.ts';

const plansIn = (profile: keyof typeof PROFILES) =>
  plansOf({ patterns: [], choices: new Map(), adapters: [], seed: '1', profile });

describe('smoke', () => {
  const plans = plansIn('smoke');

  it('has one catalogued cell of each backend, with what is expected of it', () => {
    expect(plans.map(({ backend }) => backend).toSorted()).toEqual(
      backends.map(({ name }) => name).toSorted(),
    );
    for (const plan of plans) expect(cellOf(plan), cellName(plan)).toBeDefined();
    for (const { cell } of Object.values(TELLING))
      expect(catalogue.map((each) => cellName(each))).toContain(cell);
  });

  it('shows something bad of each, and its load leaves time for the rest within three minutes', () => {
    for (const plan of plans) expect(cellOf(plan)?.expected.grade, cellName(plan)).not.toBe('safe');
    const seconds = plans.reduce((sum, { timeLimitMillis }) => sum + timeLimitMillis / 1000, 0);
    expect(seconds + plans.length * 12).toBeLessThanOrEqual(180);
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
