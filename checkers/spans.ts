// Which of many intervals meet a given one: intervals in order of their start, and beside each the latest end up to it.
// A binary search finds the last that starts in time; from there it goes back for as long as one may still reach.
// (An interval tree laid flat, with one level: enough where few intervals are long.) Pure; knows no rule.

/** Closed; `end` may be Infinity. */
interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Spans<T> {
  readonly items: readonly (Span & { readonly item: T; readonly latestEnd: number })[];
}

/** O(n log n). */
export function spansOf<T>(items: readonly T[], spanOf: (item: T) => Span): Spans<T> {
  let latestEnd = -Infinity;
  return {
    items: items
      .map((item) => ({ item, ...spanOf(item) }))
      .sort((a, b) => a.start - b.start)
      .map(({ item, start, end }) => {
        latestEnd = Math.max(latestEnd, end);
        return { item, start, end, latestEnd };
      }),
  };
}

/** The items whose intervals have a point in common with [from, to], the latest start first. */
export function* meeting<T>({ items }: Spans<T>, from: number, to: number): Generator<T> {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle]?.start ?? Infinity) <= to) low = middle + 1;
    else high = middle;
  }
  for (let index = low - 1; index >= 0; index--) {
    const span = items[index];
    if (span === undefined || span.latestEnd < from) return;
    if (span.end >= from) yield span.item;
  }
}
