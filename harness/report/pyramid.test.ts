// How a track looks from far away: nothing that is there vanishes, nothing appears where nothing is, and a frame costs as
// much as it has pixels, whatever the number of operations.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packedColumns } from './column-forms.ts';
import { fakeRun } from '../testing/fake-run.ts';
import { runViews } from './run-view.ts';
import { timelineColumns } from './timeline-columns.ts';

interface Level {
  readonly part: number;
  readonly wide: Uint32Array;
}
interface Bars {
  readonly from: Float64Array;
  readonly until: Float64Array;
  readonly end: number;
  readonly kindOf: (item: number) => number;
}

/** The page's own modules, which are plain JavaScript. */
async function pageModule<T>(file: string): Promise<T> {
  return (await import(new URL(`./page/${file}`, import.meta.url).href)) as T;
}
const { pyramidOf, kindsIn } = await pageModule<{
  pyramidOf: (items: Uint32Array, bars: Bars) => Level[];
  kindsIn: (level: Level, from: number, until: number) => number;
}>('pyramid.js');
const { unpacked } = await pageModule<{
  unpacked: (element: { textContent: string }) => { end: number };
}>('unpack.js');
const { layoutOf } = await pageModule<{ layoutOf: (model: object) => object }>('layout.js');
const { drawTimeline } = await pageModule<{ drawTimeline: (context: object, scene: object) => void }>(
  'draw.js',
);

const END = 1e6;
const MANY = 2500;

/** Bars in order of their start, of one of three kinds each. */
function barsFrom(seeds: readonly (readonly [number, number])[]): Bars & { readonly items: Uint32Array } {
  const sorted = seeds.toSorted(([a], [b]) => a - b);
  return {
    items: Uint32Array.from(sorted, (_, index) => index),
    from: Float64Array.from(sorted, ([start]) => start),
    until: Float64Array.from(sorted, ([start, length]) => Math.min(start + length, END)),
    end: END,
    kindOf: (item) => 1 << (item % 3),
  };
}

describe('a track from far away', () => {
  const bar = fc.tuple(fc.integer({ min: 0, max: END - 1 }), fc.oneof(fc.nat(50), fc.nat(END / 4)));

  it('has in each stretch the kinds that are there, and no others but of its neighbours', () => {
    fc.assert(
      fc.property(
        fc.array(bar, { minLength: MANY, maxLength: MANY, size: 'max' }),
        // Pixels begin within the run.
        fc.tuple(fc.integer({ min: 0, max: END - 1 }), fc.nat(3000)),
        (seeds, [from, length]) => {
          const { items, ...bars } = barsFrom(seeds);
          const kindsOf = (begin: number, end: number): number =>
            items.reduce(
              (kinds, item) =>
                (bars.from[item] ?? 0) < end && (bars.until[item] ?? 0) >= begin
                  ? kinds | bars.kindOf(item)
                  : kinds,
              0,
            );
          for (const level of pyramidOf(items, bars)) {
            const kinds = kindsIn(level, from, from + length);
            const there = kindsOf(from, from + length);
            expect(kinds & there).toBe(there);
            expect(kinds & ~kindsOf(from - level.part, from + length + level.part)).toBe(0);
          }
        },
      ),
      { numRuns: 20 },
    );
  });

  it('keeps beside each level the bars that are wide there', () => {
    const { items, ...bars } = barsFrom(
      Array.from({ length: MANY }, (_, index) => [index * 100, index % 500 === 0 ? 5000 : 10] as const),
    );
    const levels = pyramidOf(items, bars);
    expect(levels.length).toBeGreaterThan(3);
    for (const { part, wide } of levels) expect(wide.length).toBe(part * 2 < 5000 ? 5 : 0);
  });

  it('is not made of few bars, which are drawn one by one', () => {
    const { items, ...bars } = barsFrom([[0, 1]]);
    expect(pyramidOf(items, bars)).toEqual([]);
  });
});

/** How many bars the whole run is drawn with. */
function barsOf(seconds: number): number {
  const [view] = runViews([
    fakeRun({ seconds, clients: 8, thinkMillis: { min: 1, max: 3 }, pauseEverySeconds: 0 }),
  ]);
  if (view === undefined) throw new Error('no view');
  const model = unpacked({ textContent: packedColumns(timelineColumns(view)) });
  let bars = 0;
  const context = new Proxy(
    {},
    {
      get: (_, name) =>
        name === 'measureText' ? () => ({ width: 0 }) : () => (bars += Number(name === 'fillRect')),
      set: () => true,
    },
  );
  const paint = { locks: ['a', 'b', 'c', 'd', 'e', 'f'], lockPatterns: [] };
  drawTimeline(context, {
    model,
    layout: layoutOf(model),
    paint,
    view: { from: 0, until: model.end },
    width: 1184,
    gutter: 96,
    selected: -1,
  });
  return bars;
}

describe('a frame', () => {
  it('of a run that is four times as long is drawn with about as many bars', () => {
    const [short, long] = [barsOf(12), barsOf(48)];
    expect(short).toBeGreaterThan(100);
    expect(long).toBeLessThan(short * 1.5);
  });
});
