// The cells over time, in words, in numbers and in a picture.

import { describe, expect, it } from 'vitest';
import type { Trend } from '../comparison/trends.ts';
import { SOME_TREND } from '../testing/fake-run.ts';
import { failing, plainText } from './page.fixture.ts';
import { renderReport } from './report.ts';
import { trendsSection } from './trends-section.ts';

const section = (trend: Trend): string => trendsSection([trend])?.markup ?? '';

describe('the cells over time', () => {
  it('stand on the page where any of them ran before', () => {
    expect(renderReport([failing])).not.toContain('Over time');
    expect(renderReport([failing], { trends: [SOME_TREND] })).toContain(section(SOME_TREND));
  });

  it('are said in words, in numbers and in a picture', () => {
    const text = plainText(section(SOME_TREND));
    expect(text).toMatch(/pause-holder ?: as expected in 0 of 1 runs, before in 3 of 3/);
    expect(text).toContain(
      'since 2026-11-24 3 of 3 [0.29, 1.00] 0 of 1 [0.00, 0.98] 15 of 21 [0.48, 0.89] 0 of 7',
    );
    expect(section(SOME_TREND)).toContain(
      'oldest runs first: 5 of 7, 6 of 7, 4 of 7, 0 of 7 (1 run not as expected)',
    );
    expect(plainText(section({ ...SOME_TREND, worse: [] }))).toContain(
      'Nothing is worse than chance explains in 1 cell against 3 earlier runs',
    );
  });
});
