// The general search over the entries of one partition: what the models judge is laid out (`timeline.ts`) and explored
// (`explore.ts`). To find an order is usually quick; to prove that there is none takes all orders of everything before. So
// when that takes long, a window is tried: the last few returns before the one that no order gets past, from whatever
// state there can be, with all that was under way free to have acted before. If nothing explains the window, nothing
// explains the whole. If no order exists, the answer also says from which return on that is certain, and how far orders got.

import { NEVER, prefix, type Entries } from './entries.ts';
import { explore, type Exploration, type PartialOrder, type SearchLimits } from './explore.ts';
import type { Machine, Model } from './model.ts';
import { timelineOf, type Timeline } from './timeline.ts';

export const SEARCH_LIMITS: SearchLimits = { stepsMax: 100_000_000, bytesMax: 600 * 2 ** 20 };

/** Steps of the first round for each candidate: enough to find an order where that is easy. */
const FIRST_ROUND_STEPS_PER_CANDIDATE = 20;
/** Each round takes so many times more steps than the one before. */
const ROUND_GROWTH = 8;

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

export interface SearchOptions {
  readonly limits?: SearchLimits;
  /** Only these entries, ascending. */
  readonly positions?: readonly number[];
  /** Default: in proportion to the entries. */
  readonly firstRoundSteps?: number;
}

export function search<E extends Entries>(
  entries: E,
  model: Model<E>,
  { limits = SEARCH_LIMITS, positions, firstRoundSteps }: SearchOptions = {},
): SearchResult {
  const machine = model.machine(entries);
  const timeline = timelineOf(entries, model, machine, positions);
  let steps = 0;
  let configurations = 0;
  const firstRound = firstRoundSteps ?? 1000 + timeline.entry.length * FIRST_ROUND_STEPS_PER_CANDIDATE;
  for (let round = firstRound; ; round *= ROUND_GROWTH) {
    const stepsMax = Math.min(round, limits.stepsMax - steps);
    const found = explore(machine, timeline, { ...limits, stepsMax });
    steps += found.steps;
    configurations += found.configurations;
    const work = { steps, configurations };
    if (found.verdict === 'valid') return { ...found, ...work };
    const refuteUpTo = (level: number): Refuted<E> => ({
      entries,
      model,
      positions,
      timeline,
      found,
      level,
      limits,
    });
    if (found.verdict === 'invalid')
      return { verdict: 'invalid', ...work, refutation: () => refutationOf(refuteUpTo(timeline.levels - 1)) };
    for (const level of [found.level, ...found.lost]) {
      const window = refuteByWindow({ entries, model, timeline, machine }, level, { ...limits, stepsMax });
      steps += window.steps;
      if (window.isRefuted)
        return {
          verdict: 'invalid',
          steps,
          configurations,
          refutation: () => refutationOf(refuteUpTo(level)),
        };
    }
    if (found.exhausted === 'memory' || steps >= limits.stepsMax)
      return {
        verdict: 'unknown',
        ...work,
        exhausted: found.exhausted,
        reached: timeline.entry[found.level] ?? 0,
      };
  }
}

interface Laid<E extends Entries> {
  readonly entries: E;
  readonly model: Model<E>;
  readonly timeline: Timeline;
  readonly machine: Machine;
}

/** Whether the last returns up to `level` contradict each other, whatever was before. `stepsMax`: of all windows together. */
function refuteByWindow<E extends Entries>(
  { entries, model, timeline, machine }: Laid<E>,
  level: number,
  limits: SearchLimits,
): { readonly isRefuted: boolean; readonly steps: number } {
  let steps = 0;
  if (machine.states === undefined) return { isRefuted: false, steps };
  const laid = [...timeline.entry].sort((a, b) => a - b);
  for (let size = 1; size <= level && steps < limits.stepsMax; size *= 2) {
    const begin = timeline.returned[level - size] ?? -Infinity;
    const known = prefix(entries, timeline.returned[level] ?? NEVER);
    // What had returned is part of the state; what was under way may be, so it need not act any more.
    const underWay = known.invoked
      .subarray(0, known.size)
      .map((stamp, entry) => (stamp <= begin ? NEVER : (known.returned[entry] ?? 0)));
    const window = { ...known, returned: underWay };
    const within = laid.filter((entry) => entry < known.size && (entries.returned[entry] ?? 0) > begin);
    const windowMachine = model.machine(window);
    const found = explore(
      windowMachine,
      timelineOf(window, model, windowMachine, within),
      { ...limits, stepsMax: limits.stepsMax - steps },
      windowMachine.states?.(),
    );
    steps += found.steps;
    if (found.verdict === 'invalid') return { isRefuted: true, steps };
    if (found.verdict === 'unknown') break;
  }
  return { isRefuted: false, steps };
}

interface Refuted<E extends Entries> {
  readonly entries: E;
  readonly model: Model<E>;
  readonly positions: readonly number[] | undefined;
  readonly timeline: Timeline;
  readonly found: Exclude<Exploration, { verdict: 'valid' }>;
  /** The prefix up to its return is refuted. */
  readonly level: number;
  readonly limits: SearchLimits;
}

/** The shortest refuted prefix: what is refuted stays so in every longer one, so halving finds it. */
function refutationOf<E extends Entries>(refuted: Refuted<E>): SearchRefutation {
  const { entries, model, positions, timeline, found, limits } = refuted;
  const { entry, returned } = timeline;
  // What the orders that got furthest explain is not refuted; unless some were given up early, the next return is.
  if (!found.isCut || refuted.level === found.level)
    return { refuted: entry[found.level] ?? 0, orders: found.orders(), isShortest: true };
  let low = found.level - 1;
  let high = refuted.level;
  let isShortest = true;
  let orders = found.orders();
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    const known = prefix(entries, returned[middle] ?? NEVER);
    const within = positions?.filter((position) => position < known.size);
    const result = search(known, model, { limits, ...(within !== undefined && { positions: within }) });
    if (result.verdict === 'invalid') high = middle;
    else low = middle;
    if (result.verdict === 'valid') orders = [result.order()];
    isShortest &&= result.verdict !== 'unknown';
  }
  return { refuted: entry[high] ?? 0, orders, isShortest };
}
