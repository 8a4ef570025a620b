// The general search over the entries of one partition: what the models judge is laid out (`timeline.ts`) and explored
// (`explore.ts`). If no order exists, the answer also says from which return on that is certain and how far orders got.

import { prefix, NEVER, type Entries } from './entries.ts';
import { explore, type Exploration, type PartialOrder, type SearchLimits } from './explore.ts';
import type { Model } from './model.ts';
import { timelineOf } from './timeline.ts';

export const SEARCH_LIMITS: SearchLimits = { stepsMax: 100_000_000, bytesMax: 600 * 2 ** 20 };

export interface SearchRefutation {
  /** The first entry whose return no order can explain. */
  readonly refuted: number;
  /** Some of the longest orders, all of which explain everything that returned before. */
  readonly orders: readonly PartialOrder[];
  /** False: some earlier return may be refuted already; to find out took more than the limits. */
  readonly isShortest: boolean;
}

export type SearchResult = { readonly steps: number; readonly configurations: number } & (
  | { readonly verdict: 'valid'; readonly order: () => PartialOrder }
  | { readonly verdict: 'invalid'; readonly refutation: () => SearchRefutation }
  | {
      readonly verdict: 'unknown';
      readonly exhausted: 'steps' | 'memory';
      /** The entry whose return was to be explained next, where the search got furthest. */
      readonly reached: number;
    }
);

/** Searches the entries at `positions` (ascending; default: all). */
export function search<E extends Entries>(
  entries: E,
  model: Model<E>,
  options: { readonly limits?: SearchLimits; readonly positions?: readonly number[] } = {},
): SearchResult {
  const { limits = SEARCH_LIMITS, positions } = options;
  const machine = model.machine(entries);
  const timeline = timelineOf(entries, model, machine, positions ?? Array(entries.size).keys());
  const found = explore(machine, timeline, limits);
  const { steps, configurations } = found;
  switch (found.verdict) {
    case 'valid':
      return found;
    case 'unknown':
      return {
        verdict: 'unknown',
        steps,
        configurations,
        exhausted: found.exhausted,
        reached: timeline.entry[found.level] ?? 0,
      };
    case 'invalid': {
      const upTo = (level: number): Exploration => {
        const known = prefix(entries, timeline.returned[level] ?? NEVER);
        const within = positions?.filter((position) => position < known.size) ?? Array(known.size).keys();
        const machineThen = model.machine(known);
        return explore(machineThen, timelineOf(known, model, machineThen, within), limits);
      };
      const refutation = (): SearchRefutation =>
        found.isCut
          ? refutationByHalving(timeline.entry, timeline.levels, found.level, upTo)
          : { refuted: timeline.entry[found.level] ?? 0, orders: found.orders(), isShortest: true };
      return { verdict: 'invalid', steps, configurations, refutation };
    }
  }
}

/**
 * The shortest refuted prefix where orders were given up early: it ends at some level from `from` on, and what is
 * refuted stays so in every longer prefix.
 */
function refutationByHalving(
  entry: Int32Array,
  levels: number,
  from: number,
  upTo: (level: number) => Exploration,
): SearchRefutation {
  let low = from - 1;
  let high = levels - 1;
  let isShortest = true;
  let before: PartialOrder | undefined;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    const found = upTo(middle);
    if (found.verdict === 'invalid') high = middle;
    else {
      low = middle;
      if (found.verdict === 'valid') before = found.order();
      else isShortest = false;
    }
  }
  return { refuted: entry[high] ?? 0, orders: before === undefined ? [] : [before], isShortest };
}
