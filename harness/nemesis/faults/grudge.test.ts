// Properties of the shapes, for groups of every size: what a shape promises is checked pair by pair.

import { assert, boolean, integer, property, tuple } from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  apart,
  bridge,
  deafTo,
  filtersOf,
  isDeaf,
  majoritiesRing,
  pairsOf,
  together,
  type Grudge,
} from './grudge.ts';

const names = (size: number): string[] => Array.from({ length: size }, (_, index) => `n${index + 1}`);
const group = integer({ min: 3, max: 12 }).map(names);
const sides = tuple(integer({ min: 1, max: 6 }), integer({ min: 1, max: 6 })).map(
  ([a, b]) => [names(a + b).slice(0, a), names(a + b).slice(a)] as const,
);

const symmetric = (grudge: Grudge): boolean =>
  pairsOf(grudge).every(([listener, speaker]) => isDeaf(grudge, speaker, listener));
const heardBy = (grudge: Grudge, node: string, all: readonly string[]): string[] =>
  all.filter((other) => !isDeaf(grudge, node, other));

describe('grudges', () => {
  it('apart: nobody hears the other side, everybody their own', () => {
    assert(
      property(sides, ([a, b]) => {
        const grudge = apart(a, b);
        expect(symmetric(grudge)).toBe(true);
        for (const node of a) expect(heardBy(grudge, node, [...a, ...b])).toEqual(a);
        for (const node of b) expect(heardBy(grudge, node, [...a, ...b])).toEqual(b);
      }),
    );
  });

  it('deafTo: one direction only', () => {
    assert(
      property(sides, ([listeners, speakers]) => {
        const grudge = deafTo(listeners, speakers);
        for (const speaker of speakers)
          for (const listener of listeners) {
            expect(isDeaf(grudge, listener, speaker)).toBe(true);
            expect(isDeaf(grudge, speaker, listener)).toBe(false);
          }
      }),
    );
  });

  it('majorities ring: each hears a majority with itself, no two the same, and not everybody', () => {
    assert(
      property(group, (all) => {
        const grudge = majoritiesRing(all);
        const views = all.map((node) => heardBy(grudge, node, all));
        for (const [index, view] of views.entries()) {
          expect(view).toContain(all[index]);
          expect(view.length).toBeGreaterThan(all.length / 2);
          expect(view.length).toBeLessThan(all.length);
        }
        expect(new Set(views.map((view) => view.join())).size).toBe(all.length);
        expect(symmetric(grudge)).toBe(all.length > 3);
      }),
    );
  });

  it('bridge: one hears both halves and is heard by both, and the halves do not hear each other', () => {
    assert(
      property(group, (all) => {
        const [middle = '', ...others] = all;
        const grudge = bridge(all);
        expect(symmetric(grudge)).toBe(true);
        expect(heardBy(grudge, middle, all)).toEqual(all);
        const views = others.map((node) => heardBy(grudge, node, others).join());
        expect(new Set(views).size).toBe(2);
        for (const node of others) expect(isDeaf(grudge, node, middle)).toBe(false);
      }),
    );
  });

  it('together: deaf by one of them is deaf, and nobody else is', () => {
    assert(
      property(sides, ([a, b]) => {
        const both = together([deafTo(a, b), deafTo(b, a), deafTo(a, [])]);
        expect(new Set(pairsOf(both).map(String))).toEqual(new Set(pairsOf(apart(a, b)).map(String)));
      }),
    );
  });

  it('every pair of a grudge is filtered at exactly one node, at a preferred one where there is one', () => {
    assert(
      property(sides, boolean(), ([a, b], mutual) => {
        const grudge = mutual ? apart(a, b) : deafTo(a, b);
        const filters = filtersOf(grudge, new Set(a));
        expect([...filters.keys()]).toEqual(a);
        const stopped = [...filters].flatMap(([at, found]) =>
          found.map(({ direction, peer }) => (direction === 'from' ? [at, peer] : [peer, at]).join('<')),
        );
        expect(stopped.toSorted()).toEqual(
          pairsOf(grudge)
            .map((pair) => pair.join('<'))
            .toSorted(),
        );
      }),
    );
  });
});
