// What delta debugging promises: what is left shows it, nothing of it can be left out, and it asks little where little is
// needed.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { smallestPart } from './smallest-part.ts';

const things = (count: number): number[] => Array.from({ length: count }, (_, nth) => nth);
const within = (needed: readonly number[], part: readonly number[]): boolean =>
  needed.every((one) => part.includes(one));

describe('the smallest part', () => {
  it('is exactly what is needed, in order, whatever is needed', async () => {
    const cases = fc
      .integer({ min: 1, max: 40 })
      .chain((count) => fc.tuple(fc.constant(count), fc.subarray(things(count))));
    await fc.assert(
      fc.asyncProperty(cases, async ([count, needed]) => {
        const part = await smallestPart(things(count), async (tried) => within(needed, tried));
        expect(part).toEqual(needed);
      }),
    );
  });

  it('shows it and has nothing to spare, however those that show it are related', async () => {
    const cases = fc.tuple(
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 11 }), { minLength: 1 }), { minLength: 1 }),
    );
    await fc.assert(
      fc.asyncProperty(cases, async ([count, ways]) => {
        const all = things(count);
        // Any of these sets is enough, and nothing else.
        const shows = (part: readonly number[]): boolean =>
          part.length === all.length || ways.some((needed) => within(needed, part));
        const part = await smallestPart(all, async (tried) => shows(tried));
        expect(shows(part)).toBe(true);
        const without = part.map((left) => part.filter((one) => one !== left));
        expect(part.length > 1 && without.some(shows)).toBe(false);
      }),
    );
  });

  it('is found in few questions if one thing is enough', async () => {
    let asked = 0;
    const part = await smallestPart(things(1_000), async (tried) => {
      asked += 1;
      return tried.includes(700);
    });
    expect(part).toEqual([700]);
    expect(asked).toBeLessThan(25);
  });
});
