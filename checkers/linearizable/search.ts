// Decides whether any order of the entries of one partition satisfies a model: depth-first, after Wing & Gong 1993 ("Testing
// and verifying concurrent objects") with the cache of Lowe 2017 ("Testing for linearizability"). What differs:
// - A set of entries that took effect is the level (everything that returned before it) and a bit for each pending slot
//   (`timeline.ts`), so a configuration is a few words and 10⁶ operations fit in memory.
// - Entries of unknown outcome never have to take effect, so a configuration that used fewer is better; the cache refuses
//   whatever is not better than something seen (`configurations.ts`).
// - An entry that only observes takes effect as soon as it can: nothing is lost by that.
// - Of pending entries that may be exchanged, the one with the earliest return goes first.
// - A blind write can take effect unseen, just before another one. So any pending one is excused by the next blind write
//   that does take effect, and two in a row with nothing between them are never tried: the second alone does as well.
// Quiescent points need no special care: a level at which nothing is pending is one configuration for each state.
// The budget is counted in steps, so a verdict is the same on every machine. Knows no model and no file.

import { createBlindness } from './blindness.ts';
import { createChoices, HIDE, START } from './choices.ts';
import { createConfigurations, type Configurations } from './configurations.ts';
import { NONE, type Entries } from './entries.ts';
import type { Machine, Model } from './model.ts';
import { BLIND, timelineOf, type Timeline } from './timeline.ts';
import { createUsedSets } from './used-sets.ts';
import { createWalk } from './walk.ts';

export interface SearchLimits {
  /** Transitions tried and configurations made. */
  readonly stepsMax: number;
  /** Of configurations and sets; while they grow, half as much again is in use for a moment. */
  readonly bytesMax: number;
}

export const SEARCH_LIMITS: SearchLimits = { stepsMax: 100_000_000, bytesMax: 600 * 2 ** 20 };

/** A longest order that was possible: its entries, and the state after it, in words. */
export interface PartialOrder {
  readonly entries: readonly number[];
  readonly state: string;
}

export type SearchResult = {
  readonly steps: number;
  readonly configurations: number;
} & (
  | {
      readonly verdict: 'valid';
      /** The entries that took effect, in order. */
      readonly order: () => readonly number[];
    }
  | {
      readonly verdict: 'invalid';
      /** The first entry whose return no order can explain. */
      readonly refuted: number;
      /** Some of the longest orders. */
      readonly orders: () => readonly PartialOrder[];
    }
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
  options: { readonly limits?: SearchLimits; readonly positions?: Iterable<number> } = {},
): SearchResult {
  const machine = model.machine(entries);
  const timeline = timelineOf(entries, model, machine, options.positions ?? Array(entries.size).keys());
  return explore(machine, timeline, options.limits ?? SEARCH_LIMITS);
}

/** How many of the longest orders are remembered. */
const ORDERS_MAX = 4;

function explore(machine: Machine, timeline: Timeline, { stepsMax, bytesMax }: SearchLimits): SearchResult {
  const { levels, entry, traits } = timeline;
  const usedSets = createUsedSets(entry.length - levels);
  const configurations = createConfigurations(timeline.slots, usedSets);
  const walk = createWalk(machine, timeline);
  const choices = createChoices(timeline, walk, usedSets);
  const blind = createBlindness(timeline, walk);
  const { cursor } = walk;
  const path: number[] = [];
  /** Of each configuration on the path: the choice tried last. */
  const tried: number[] = [];
  /** Of each: it was reached by a blind candidate at this level, and nothing has observed that yet. */
  const unobserved: boolean[] = [];
  let furthest: number[] = [];
  let steps = 0;

  const summary = () => ({ steps, configurations: configurations.count() });
  const entriesOf = (candidates: readonly number[]): number[] =>
    candidates.map((candidate) => entry[candidate] ?? 0);

  const add = (parent: number, via: number): number => {
    blind.survey();
    return configurations.add(cursor, { parent, via }, blind);
  };
  const push = (configuration: number, isUnobserved: boolean): void => {
    path.push(configuration);
    tried.push(START);
    unobserved.push(isUnobserved);
    const best = furthest[0] === undefined ? NONE : configurations.level(furthest[0]);
    if (cursor.level > best) furthest = [configuration];
    else if (cursor.level === best && furthest.length < ORDERS_MAX) furthest.push(configuration);
  };

  walk.settle();
  if (cursor.level === levels)
    return { verdict: 'valid', ...summary(), order: () => entriesOf(orderOf(machine, timeline, [])) };
  push(add(NONE, NONE), false);

  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    walk.rewind(configurations.level(top));
    configurations.load(top, cursor);
    const depth = path.length - 1;
    const choice = choices.next(tried[depth] ?? START, unobserved[depth] === true);
    steps += choices.steps();
    if (choice === entry.length) {
      path.pop();
      tried.pop();
      unobserved.pop();
      continue;
    }
    if (steps > stepsMax || configurations.bytes() + usedSets.bytes() > bytesMax) {
      const level = furthest[0] === undefined ? 0 : configurations.level(furthest[0]);
      const exhausted = steps > stepsMax ? 'steps' : 'memory';
      return { verdict: 'unknown', ...summary(), exhausted, reached: entry[level] ?? 0 };
    }
    tried[depth] = choice;
    const { level } = cursor;
    if (choice >= levels) cursor.used = usedSets.with(cursor.used, choice - levels);
    if (choice === HIDE) walk.hide();
    else walk.take(choice, choices.stepped());
    const observed = walk.settle();
    steps += observed + 1;
    if (cursor.level === levels) {
      const vias = [...viasOf(configurations, top), choice];
      return { verdict: 'valid', ...summary(), order: () => entriesOf(orderOf(machine, timeline, vias)) };
    }
    const configuration = add(top, choice);
    if (configuration === NONE) continue;
    const isBlind = choice !== HIDE && ((traits[choice] ?? 0) & BLIND) !== 0;
    push(configuration, isBlind && observed === 0 && cursor.level === level);
  }

  const [first] = furthest;
  return {
    verdict: 'invalid',
    ...summary(),
    refuted: entry[first === undefined ? 0 : configurations.level(first)] ?? 0,
    orders: () =>
      furthest.map((configuration) => {
        configurations.load(configuration, cursor);
        return {
          entries: entriesOf(orderOf(machine, timeline, viasOf(configurations, configuration))),
          state: machine.describe(cursor.state),
        };
      }),
  };
}

/** The choices that led to a configuration, first to last. */
function viasOf(configurations: Configurations, last: number): number[] {
  const vias: number[] = [];
  for (let at = last; configurations.parent(at) !== NONE; at = configurations.parent(at))
    vias.push(configurations.via(at));
  return vias.reverse();
}

/** Everything that took effect by these choices, in order. */
function orderOf(machine: Machine, timeline: Timeline, vias: readonly number[]): number[] {
  const isBlind = (candidate: number): boolean => ((timeline.traits[candidate] ?? 0) & BLIND) !== 0;
  const walk = createWalk(machine, timeline);
  const order: number[] = [];
  walk.settle(order);
  for (const via of vias) {
    if (via === HIDE) {
      // Right before the last blind one that did take effect: that is the one that hid it.
      order.splice(order.findLastIndex(isBlind), 0, walk.cursor.level);
      walk.hide();
    } else {
      order.push(via);
      walk.take(via, walk.step(via));
    }
    walk.settle(order);
  }
  return order;
}
