// Which of many intervals meet a given one. They stand in order of their start, so those that begin in time are the first
// ones; which of these reach far enough, the tree of their ends tells (`highest.ts`). Pure; knows no rule.

import { partitionPoint } from '../harness/history/sorted.ts';
import { highestOf, type Highest } from './highest.ts';

/** Closed; `end` may be Infinity. */
interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Spans<T> {
  readonly items: readonly T[];
  /** Ascending. */
  readonly starts: Float64Array;
  readonly ends: Highest;
}

/** O(n log n). */
export function spansOf<T>(items: readonly T[], spanOf: (item: T) => Span): Spans<T> {
  const spans = items.map((item) => ({ item, ...spanOf(item) })).sort((a, b) => a.start - b.start);
  return {
    items: spans.map(({ item }) => item),
    starts: Float64Array.from(spans, ({ start }) => start),
    ends: highestOf(Float64Array.from(spans, ({ end }) => end)),
  };
}

/** The items whose intervals have a point in common with [from, to], in order of their start. O(log n) for each. */
export function* meeting<T>({ items, starts, ends }: Spans<T>, from: number, to: number): Generator<T> {
  const inTime = partitionPoint(items.length, (index) => (starts[index] ?? Infinity) <= to);
  for (let index = ends.first(0, from); index < inTime; index = ends.first(index + 1, from)) {
    const item = items[index];
    if (item !== undefined) yield item;
  }
}
