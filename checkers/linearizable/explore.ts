// Decides whether any order of the entries of one partition satisfies a model: depth-first, after Wing & Gong 1993 ("Testing
// and verifying concurrent objects") with the cache of Lowe 2017 ("Testing for linearizability"). What differs:
// - A set of entries that took effect is the level (everything that returned before it) and a bit for each pending slot
//   (`timeline.ts`), so a configuration is a few words and 10⁶ operations fit in memory.
// - Entries of unknown outcome never have to take effect, so a configuration that used fewer is better; the cache refuses
//   whatever is not better than something seen (`configurations.ts`).
// - An entry that only observes takes effect as soon as it can: nothing is lost by that.
// - Of pending entries that may be exchanged, the one with the earliest return goes first.
// - What is legal in every state (a write, an append) can take effect unseen, right before a blind write, which leaves
//   nothing of it. So whatever of that kind is pending is excused by the next blind write that does take effect, and
//   taking such a one only to overwrite it with nothing in between is never tried.
// - Where something that only observes cannot become legal any more, it goes back at once; states that nobody can see
//   before they are overwritten are one (`outlook.ts`).
// Quiescent points need no special care: a level at which nothing is pending is one configuration for each state.
// The budget is counted in steps, so a verdict is the same on every machine. Knows no model and no file.

import { createChoices, HIDE } from './choices.ts';
import { createConfigurations, type Configurations } from './configurations.ts';
import { NONE } from './entries.ts';
import { createHidingSurvey } from './hiding.ts';
import { DOOMED, type Machine } from './model.ts';
import { createOutlook } from './outlook.ts';
import { BLIND, TOTAL, type Timeline } from './timeline.ts';
import { createUsedSets } from './used-sets.ts';
import { createWalk } from './walk.ts';

export interface SearchLimits {
  /** Transitions tried and configurations made. */
  readonly stepsMax: number;
  /** Of configurations and sets; while they grow, half as much again is in use for a moment. */
  readonly bytesMax: number;
}

/** A longest order that was possible: its entries, and the state after it, in words. */
export interface PartialOrder {
  readonly entries: readonly number[];
  readonly state: string;
}

export type Exploration = {
  readonly steps: number;
  readonly configurations: number;
} & (
  | {
      readonly verdict: 'valid';
      /** The entries that took effect, in order, and the state after them. */
      readonly order: () => PartialOrder;
    }
  | ({ readonly verdict: 'invalid' } & Furthest)
  | ({ readonly verdict: 'unknown'; readonly exhausted: 'steps' | 'memory' } & Furthest)
);

export interface Furthest {
  /** The furthest level to which an order got; everything that returned before is explained by it. */
  readonly level: number;
  /** Levels of entries that could not become legal any more where orders of that length were given up. */
  readonly lost: readonly number[];
  /** Some orders were given up before they got as far as they could. */
  readonly isCut: boolean;
  /** Some of the orders that got furthest. */
  readonly orders: () => readonly PartialOrder[];
}

/** How many of the longest orders, and of the entries lost after them, are remembered. */
const FURTHEST_MAX = 4;
/** An order makes about one configuration a level; there is room for so many at once. */
const EXPECTED_MAX = 1 << 20;

/** Explores `timeline`, whose candidates are entries of `machine`, from each of the states `roots`. */
export function explore(
  machine: Machine,
  timeline: Timeline,
  { stepsMax, bytesMax }: SearchLimits,
  roots: readonly number[] = [machine.initial],
): Exploration {
  const { levels, entry, traits } = timeline;
  const usedSets = createUsedSets(entry.length - levels);
  const configurations = createConfigurations(timeline.slots, usedSets, Math.min(levels, EXPECTED_MAX));
  const walk = createWalk(machine, timeline);
  const hiding = createHidingSurvey(timeline, walk);
  const outlook = createOutlook(machine, timeline, walk, usedSets);
  const choices = createChoices(timeline, walk, { usedSets, outlook });
  const { cursor } = walk;
  const furthest: number[] = [];
  let furthestLevel = 0;
  let lost: number[] = [];
  let steps = 0;
  let isCut = false;

  const summary = () => ({ steps, configurations: configurations.count() });
  const orderBy = (root: number, vias: readonly number[]): PartialOrder =>
    orderOf(machine, timeline, { root, vias });
  const soFar = (): Furthest => ({
    level: furthestLevel,
    lost,
    isCut,
    orders: () =>
      furthest.map((configuration) =>
        orderBy(configurations.root(configuration), viasOf(configurations, configuration)),
      ),
  });

  /** Keeps where `walk` is and returns its number; `NONE` if that is not worth exploring. */
  const keep = (parent: number, via: number, unobserved: boolean): number => {
    const hopeless = outlook.lostObserver();
    if (hopeless !== undefined) {
      isCut = true;
      if (cursor.level >= furthestLevel && lost.length < FURTHEST_MAX && !lost.includes(hopeless))
        lost.push(hopeless);
      return NONE;
    }
    if (outlook.isDoomed(cursor.state)) cursor.state = DOOMED;
    hiding.survey();
    const configuration = configurations.add(cursor, { parent, via, unobserved }, hiding);
    if (configuration === NONE) return NONE;
    if (furthest.length === 0 || cursor.level > furthestLevel) {
      furthestLevel = cursor.level;
      furthest[0] = configuration;
      if (furthest.length > 1) furthest.length = 1;
      if (lost.length > 0) lost = [];
    } else if (cursor.level === furthestLevel && furthest.length < FURTHEST_MAX) furthest.push(configuration);
    return configuration;
  };

  for (const root of roots) {
    walk.restart(root);
    walk.settle();
    if (cursor.level === levels) return { verdict: 'valid', ...summary(), order: () => orderBy(root, []) };
    let top = keep(NONE, root, false);
    while (top !== NONE) {
      walk.rewind(configurations.level(top));
      configurations.load(top, cursor);
      const choice = choices.next(configurations.tried(top), configurations.unobserved(top));
      steps += choices.steps();
      if (choice === entry.length) {
        top = configurations.parent(top);
        continue;
      }
      if (steps > stepsMax || configurations.bytes() + usedSets.bytes() > bytesMax)
        return {
          verdict: 'unknown',
          ...summary(),
          exhausted: steps > stepsMax ? 'steps' : 'memory',
          ...soFar(),
        };
      configurations.setTried(top, choice);
      const { level } = cursor;
      if (choice >= levels) cursor.used = usedSets.with(cursor.used, choice - levels);
      if (choice === HIDE) walk.hide();
      else walk.take(choice, choices.stepped());
      const observed = walk.settle();
      steps += observed + 1;
      if (cursor.level === levels) {
        const last = top;
        const order = () => orderBy(root, [...viasOf(configurations, last), choice]);
        return { verdict: 'valid', ...summary(), order };
      }
      const isTotal = choice !== HIDE && ((traits[choice] ?? 0) & TOTAL) !== 0;
      const kept = keep(top, choice, isTotal && observed === 0 && cursor.level === level);
      if (kept !== NONE) top = kept;
    }
  }
  return { verdict: 'invalid', ...summary(), ...soFar() };
}

/** The choices that led to a configuration, first to last. */
function viasOf(configurations: Configurations, last: number): number[] {
  const vias: number[] = [];
  for (let at = last; configurations.parent(at) !== NONE; at = configurations.parent(at))
    vias.push(configurations.via(at));
  return vias.reverse();
}

/** Everything that took effect from the state `root` on by these choices, in order. */
function orderOf(
  machine: Machine,
  timeline: Timeline,
  { root, vias }: { readonly root: number; readonly vias: readonly number[] },
): PartialOrder {
  const isBlind = (candidate: number): boolean => ((timeline.traits[candidate] ?? 0) & BLIND) !== 0;
  const walk = createWalk(machine, timeline);
  const order: number[] = [];
  walk.restart(root);
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
  return {
    entries: order.map((candidate) => timeline.entry[candidate] ?? 0),
    state: machine.describe(walk.cursor.state),
  };
}
