// The tree of maxima: the same as looking at each position.

import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { highestOf } from './highest.ts';

const small = fc.oneof(fc.integer({ min: 0, max: 6 }), fc.constantFrom(-Infinity, Infinity));
const position = fc.nat({ max: 24 });

it('finds what looking at each finds', () => {
  const group = fc.nat({ max: 2 });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(small, group), { maxLength: 20 }),
      position,
      fc.integer({ min: 0, max: 6 }),
      fc.option(group, { nil: undefined }),
      (rows, from, least, except) => {
        const values = Float64Array.from(rows, ([value]) => value);
        const groups = Int32Array.from(rows, ([, number]) => number);
        const expected = rows.findIndex(
          ([value, number], index) => index >= from && value >= least && number !== except,
        );
        expect(highestOf(values, groups).first(from, least, except)).toBe(
          expected === -1 ? rows.length : expected,
        );
      },
    ),
    { numRuns: 20_000 },
  );
});

it('needs no groups', () => {
  const highest = highestOf(Float64Array.of(1, 5, 3, 5));
  expect(highest.first(0, 4)).toBe(1);
  expect(highest.first(2, 4)).toBe(3);
  expect(highest.first(0, 6)).toBe(4);
  expect(highest.first(9, 0)).toBe(4);
});
