// Durations and spans as people write them.

import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration, parseSpan } from './duration.ts';

describe('durations', () => {
  it.each([
    ['1s', 1000],
    ['250ms', 250],
    ['2m', 120_000],
    ['1.5s', 1500],
    ['0', 0],
    [' 3 s ', 3000],
    ['1h', 3_600_000],
  ])('reads %s', (text, expected) => {
    expect(parseDuration(text)).toBe(expected);
  });

  it.each(['', '5', '-1s', '1 day', '1s2', 's', '1e3s', `${'9'.repeat(400)}s`])('refuses %j', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it.each([1, 50, 1000, 1500, 60_000, 90_000, 3_600_000, 2_052_102])(
    'formats %d so that it reads back',
    (duration) => {
      expect(parseDuration(formatDuration(duration))).toBe(duration);
    },
  );

  it('reads spans and single durations', () => {
    expect(parseSpan('20ms..60ms')).toEqual({ min: 20, max: 60 });
    expect(parseSpan('1s')).toEqual({ min: 1000, max: 1000 });
    expect(parseSpan('0..20ms')).toEqual({ min: 0, max: 20 });
  });

  it.each(['60ms..20ms', '..', '1s..', '1s..2s..3s', 'x'])('refuses the span %j', (text) => {
    expect(parseSpan(text)).toBeUndefined();
  });
});
