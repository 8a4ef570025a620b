// The memory of the search: what it takes for the same, and for no better than what it has seen. Whatever shares a bucket of
// its table is compared field by field.

import { describe, expect, it } from 'vitest';
import { createConfigurations, type Cursor } from './configurations.ts';
import { NONE } from './entries.ts';
import { createUsedSets } from './used-sets.ts';

const ORIGIN = { parent: NONE, via: 0, unobserved: false };
/** Nothing pending is total. */
const HIDING = { bits: new Int32Array(1), opens: new Int32Array(1) };
/** Far more than there are buckets at first. */
const MANY = 3_000;

function memory() {
  const usedSets = createUsedSets(8);
  const configurations = createConfigurations(4, usedSets, 1);
  const isNew = (change: Partial<Cursor>): boolean => {
    const cursor = { level: 0, state: 0, used: 0, overwritten: NONE, bits: new Int32Array(1), ...change };
    return configurations.add(cursor, ORIGIN, HIDING) !== NONE;
  };
  return { usedSets, configurations, isNew };
}

describe('configurations', () => {
  it.each<[string, (index: number) => Partial<Cursor>]>([
    ['state', (state) => ({ state })],
    ['level', (level) => ({ level })],
    ['level and state together', (index) => ({ level: index, state: MANY - index })],
  ])('of another %s are never taken for the same', (_, cursorOf) => {
    const { isNew, configurations } = memory();
    const indices = [...Array(MANY).keys()];
    expect(indices.filter((index) => !isNew(cursorOf(index)))).toEqual([]);
    expect(indices.filter((index) => isNew(cursorOf(index)))).toEqual([]);
    expect(configurations.count()).toBe(MANY);
  });

  it('in which something else has taken effect are never taken for the same', () => {
    const { isNew } = memory();
    for (let bits = 0; bits < 16; bits++) expect(isNew({ bits: Int32Array.of(bits) })).toBe(true);
  });

  it('that used more of what need not have happened are no better', () => {
    const { isNew, usedSets } = memory();
    const [one, other] = [usedSets.with(0, 1), usedSets.with(0, 2)];
    expect(isNew({ used: one })).toBe(true);
    expect(isNew({ used: usedSets.with(one, 2) })).toBe(false);
    expect(isNew({ used: other })).toBe(true);
    // Better than both, and the first to be remembered from now on.
    expect(isNew({ used: 0 })).toBe(true);
    expect(isNew({ used: other })).toBe(false);
  });
});
