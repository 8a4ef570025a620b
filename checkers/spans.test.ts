// Which intervals meet a given one: the same as looking at each of them.

import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { meeting, spansOf } from './spans.ts';

it('finds what looking at each finds, in order of their start', () => {
  const bound = fc.integer({ min: 0, max: 20 });
  fc.assert(
    fc.property(fc.array(fc.record({ start: bound, end: bound })), bound, bound, (spans, from, to) => {
      const found = [
        ...meeting(
          spansOf(spans, (span) => span),
          from,
          to,
        ),
      ];
      const expected = spans.filter(({ start, end }) => start <= to && end >= from);
      expect(found.toSorted((a, b) => a.start - b.start || a.end - b.end)).toEqual(
        expected.toSorted((a, b) => a.start - b.start || a.end - b.end),
      );
      expect(found.map(({ start }) => start)).toEqual(
        found.map(({ start }) => start).toSorted((a, b) => a - b),
      );
    }),
  );
});
