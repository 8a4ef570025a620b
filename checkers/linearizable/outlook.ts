// What can still be seen of a state, for models in which everything but observing is legal always (registers without
// exchanges, texts). A place of the timeline is hopeless if some entry that observes, and must still take effect, cannot
// become legal any more: where nothing blind can change the state before it returns, what was read must already be on
// its way. A state is doomed if it will be overwritten before anything can observe it. All doomed states are one, and what
// is not blind is taken there when it must be and not before: nobody sees the order.

import { DOOMED, type Machine } from './model.ts';
import { BLIND, OBSERVES, type Timeline } from './timeline.ts';
import type { UsedSets } from './used-sets.ts';
import type { Walk } from './walk.ts';

export interface Outlook {
  /** The level of an observer that cannot take effect any more from where `walk` is now; undefined: there is hope. */
  lostObserver(): number | undefined;
  /** If the state were `state` where `walk` is now, something blind would take effect before anything that observes. */
  isDoomed(state: number): boolean;
}

/** For machines that cannot tell, nothing is hopeless or doomed. */
export function createOutlook(machine: Machine, timeline: Timeline, walk: Walk, usedSets: UsedSets): Outlook {
  const { outOfReach } = machine;
  if (outOfReach === undefined || (timeline.anyTraits & OBSERVES) === 0)
    return { lostObserver: () => undefined, isDoomed: () => false };
  const { levels, entry, traits, opens, slots } = timeline;
  const { cursor, occupant, pending } = walk;
  const is = (candidate: number, trait: number): boolean => ((traits[candidate] ?? 0) & trait) !== 0;

  /** By level: the first one from there on that observes. */
  const nextObserver = new Int32Array(levels + 1).fill(levels);
  for (let level = levels - 1; level >= 0; level--)
    nextObserver[level] = is(level, OBSERVES) ? level : (nextObserver[level + 1] ?? levels);
  const blind = Int32Array.from(entry.keys()).filter((candidate) => is(candidate, BLIND));
  blind.sort((a, b) => (opens[a] ?? 0) - (opens[b] ?? 0));
  const optionalBlind = blind.filter((candidate) => candidate >= levels);
  const firstLaterBlind = firstLaterOf(blind, opens, levels);

  /** Some blind candidate may yet take effect before `observer` and leave a state from which it is in reach. */
  const blindHelps = (observer: number): boolean => {
    const seen = entry[observer] ?? 0;
    const helps = (candidate: number): boolean => !outOfReach(walk.stateAfterBlind(candidate), seen);
    for (let slot = 0; slot < slots; slot++) {
      const candidate = occupant[slot] ?? levels;
      if (candidate < levels && is(candidate, BLIND) && pending(slot) && helps(candidate)) return true;
    }
    for (const candidate of optionalBlind) {
      if ((opens[candidate] ?? 0) > cursor.level) break;
      if (!usedSets.has(cursor.used, candidate - levels) && helps(candidate)) return true;
    }
    for (let index = firstLaterBlind[cursor.level] ?? 0; index < blind.length; index++) {
      const candidate = blind[index] ?? 0;
      if ((opens[candidate] ?? 0) > observer) return false;
      if (helps(candidate)) return true;
    }
    return false;
  };
  const isOutOfReach = (state: number, observer: number): boolean =>
    state === DOOMED || outOfReach(state, entry[observer] ?? 0);
  const isLost = (observer: number): boolean => isOutOfReach(cursor.state, observer) && !blindHelps(observer);
  const observesAt = (slot: number): boolean => {
    const candidate = occupant[slot] ?? levels;
    return candidate < levels && is(candidate, OBSERVES) && pending(slot);
  };
  const observers = Int32Array.from(entry.keys()).filter((candidate) => is(candidate, OBSERVES));
  observers.sort((a, b) => (opens[a] ?? 0) - (opens[b] ?? 0));
  /** By level: where in `observers` those begin that open after it. */
  const firstLaterObserver = firstLaterOf(observers, opens, levels);

  return {
    lostObserver() {
      for (let slot = 0; slot < slots; slot++)
        if (observesAt(slot) && isLost(occupant[slot] ?? 0)) return occupant[slot];
      // And the next one that has not been invoked yet.
      for (
        let level = nextObserver[cursor.level] ?? levels;
        level < levels;
        level = nextObserver[level + 1] ?? levels
      )
        if ((opens[level] ?? 0) > cursor.level) return isLost(level) ? level : undefined;
      return undefined;
    },
    isDoomed(state) {
      let first = levels;
      for (let slot = 0; slot < slots; slot++) {
        if (!observesAt(slot)) continue;
        const observer = occupant[slot] ?? 0;
        if (!isOutOfReach(state, observer)) return false;
        first = Math.min(first, observer);
      }
      // Those that open before the first of all has returned may come before what overwrites the state.
      for (let index = firstLaterObserver[cursor.level] ?? 0; index < observers.length; index++) {
        const observer = observers[index] ?? 0;
        if ((opens[observer] ?? 0) > first) break;
        if (!isOutOfReach(state, observer)) return false;
        first = Math.min(first, observer);
      }
      return true;
    },
  };
}

/** By level: where in `sorted`, which is by opening, the candidates begin that open after it. */
function firstLaterOf(sorted: Int32Array, opens: Int32Array, levels: number): Int32Array {
  const firstLater = new Int32Array(levels + 1);
  for (let level = levels, index = sorted.length; level >= 0; level--) {
    while (index > 0 && (opens[sorted[index - 1] ?? 0] ?? 0) > level) index--;
    firstLater[level] = index;
  }
  return firstLater;
}
