// The exact interval against published values, against its own definition, and at its ends.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chanceOfSoFew, exactInterval, intervalText, perThousandText } from './interval.ts';

describe('exactInterval', () => {
  // Newcombe, Statistics in Medicine 17 (1998), table I, method 5 (Clopper-Pearson).
  it.each([
    [81, 263, 0.2527, 0.3676],
    [15, 148, 0.0578, 0.1617],
    [0, 20, 0, 0.1684],
    [1, 29, 0.0009, 0.1776],
  ])('%d of %d is in [%d, %d]', (hits, trials, low, high) => {
    const interval = exactInterval({ hits, trials });
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });

  it('is what it is defined to be where a formula is known: nothing seen, and all seen', () => {
    for (const trials of [1, 5, 137, 10_000]) {
      expect(exactInterval({ hits: 0, trials })).toEqual({
        low: 0,
        high: expect.closeTo(1 - 0.025 ** (1 / trials), 9),
      });
      expect(exactInterval({ hits: trials, trials })).toEqual({
        low: expect.closeTo(0.025 ** (1 / trials), 9),
        high: 1,
      });
    }
    expect(exactInterval({ hits: 0, trials: 0 })).toEqual({ low: 0, high: 1 });
  });

  it('holds the rate that was seen, grows with hits, and is the mirror of what was not seen', () => {
    const proportion = fc
      .integer({ min: 1, max: 400 })
      .chain((trials) =>
        fc.record({ trials: fc.constant(trials), hits: fc.integer({ min: 0, max: trials }) }),
      );
    fc.assert(
      fc.property(proportion, ({ hits, trials }) => {
        const { low, high } = exactInterval({ hits, trials });
        expect(low).toBeLessThanOrEqual(hits / trials);
        expect(high).toBeGreaterThanOrEqual(hits / trials);
        const mirror = exactInterval({ hits: trials - hits, trials });
        expect(mirror.low).toBeCloseTo(1 - high, 9);
        const more = hits === trials ? 1 : exactInterval({ hits: hits + 1, trials }).low;
        expect(more).toBeGreaterThan(low);
      }),
      { numRuns: 100 },
    );
  });

  it('refuses what is no proportion', () => {
    expect(() => exactInterval({ hits: 3, trials: 2 })).toThrow(RangeError);
    expect(() => exactInterval({ hits: -1, trials: 2 })).toThrow(RangeError);
    expect(() => exactInterval({ hits: 0.5, trials: 2 })).toThrow(RangeError);
  });
});

describe('in words', () => {
  it('gives the interval with the count, and rates in thousands', () => {
    expect(intervalText({ hits: 17, trials: 20 })).toBe('17 of 20 [0.62, 0.97]');
    expect(perThousandText({ hits: 17, trials: 20 })).toBe('850 [621, 968]');
    expect(perThousandText({ hits: 0, trials: 10_000 })).toBe('0 [0, 0.37]');
  });
});

describe('chanceOfSoFew', () => {
  it('is that of the lady who tasted tea', () => {
    // Fisher, The Design of Experiments (1935), chapter II: 3 or more of 4 right by chance in 17 of 70 cases.
    expect(chanceOfSoFew({ hits: 1, trials: 4 }, { hits: 3, trials: 4 })).toBeCloseTo(17 / 70, 12);
    expect(chanceOfSoFew({ hits: 0, trials: 4 }, { hits: 4, trials: 4 })).toBeCloseTo(1 / 70, 12);
  });

  it('is 1 where nothing can be told, and the tails of both sides meet', () => {
    expect(chanceOfSoFew({ hits: 0, trials: 0 }, { hits: 3, trials: 9 })).toBe(1);
    const proportion = fc.nat(200).chain((trials) => fc.nat(trials).map((hits) => ({ hits, trials })));
    fc.assert(
      fc.property(proportion, proportion, (one, other) => {
        const miss = ({ hits, trials }: typeof one): typeof one => ({ hits: trials - hits, trials });
        const both = chanceOfSoFew(one, other) + chanceOfSoFew(miss(one), miss(other));
        // What is as it is counts on both sides.
        expect(both).toBeGreaterThanOrEqual(1 - 1e-9);
        expect(chanceOfSoFew(one, other)).toBeCloseTo(chanceOfSoFew(miss(other), miss(one)), 9);
      }),
    );
  });
});
