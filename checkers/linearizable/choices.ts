// What the search may try next at one place of the timeline, in a fixed order: to let the next return be hidden, then
// pending required candidates by return, then optional ones. Leaves out what cannot matter; `search.ts` says why that
// loses nothing.

import { ILLEGAL } from './model.ts';
import type { Outlook } from './outlook.ts';
import { BLIND, OBSERVES, TOTAL, type Timeline } from './timeline.ts';
import type { UsedSets } from './used-sets.ts';
import type { Walk } from './walk.ts';

/** Before every choice. */
export const START = -2;
/** The choice to let the next return be that of an entry that took effect unseen. All others are candidates. */
export const HIDE = -1;

export interface Choices {
  /**
   * The first choice after `last` that can take effect and is worth trying; the number of candidates if there is none.
   * `unobserved`: a total candidate was the last to take effect, at this level, and nothing has observed it.
   */
  next(last: number, unobserved: boolean): number;
  /** The state after the choice that `next` returned. */
  readonly stepped: () => number;
  /** Transitions tried by the last call of `next`. */
  readonly steps: () => number;
}

export function createChoices(
  timeline: Timeline,
  walk: Walk,
  { usedSets, outlook }: { readonly usedSets: UsedSets; readonly outlook: Outlook },
): Choices {
  const { levels, entry, call, traits, opens, slots } = timeline;
  const { cursor, occupant, pending } = walk;
  let stepped = ILLEGAL;
  let steps = 0;

  const nextPending = (last: number): number => {
    let next = levels;
    for (let slot = 0; slot < slots; slot++) {
      const candidate = occupant[slot] ?? levels;
      if (candidate > last && candidate < next && pending(slot)) next = candidate;
    }
    return next;
  };
  const isExcused = (candidate: number): boolean =>
    ((traits[candidate] ?? 0) & TOTAL) !== 0 && (opens[candidate] ?? 0) <= cursor.overwritten;
  /**
   * A required candidate with the same call is pending and returns before `candidate`. It does not go first if it need
   * not take effect and `candidate` must.
   */
  const equalGoesFirst = (candidate: number): boolean => {
    for (let slot = 0; slot < slots; slot++) {
      const other = occupant[slot] ?? levels;
      if (other >= candidate || call[other] !== call[candidate] || !pending(slot)) continue;
      if (candidate >= levels || !isExcused(other) || isExcused(candidate)) return true;
    }
    return false;
  };
  const leavesOut = (candidate: number, unobserved: boolean): boolean => {
    const trait = traits[candidate] ?? 0;
    return (trait & OBSERVES) !== 0 || (unobserved && (trait & BLIND) !== 0) || equalGoesFirst(candidate);
  };
  /** Nobody would see it before something overwrites it, and it need not take effect yet. */
  const isTooEarly = (candidate: number): boolean => {
    const trait = traits[candidate] ?? 0;
    const leavesUnseen = (trait & TOTAL) !== 0 && (trait & BLIND) === 0 && candidate !== cursor.level;
    return leavesUnseen && outlook.isDoomed(stepped);
  };
  const isWorthTrying = (candidate: number): boolean => {
    steps++;
    stepped = walk.step(candidate);
    return stepped !== ILLEGAL && !isTooEarly(candidate);
  };
  /** The first unused one of its call, and invoked by now. */
  const isAvailable = (candidate: number): boolean => {
    const position = candidate - levels;
    if ((opens[candidate] ?? 0) > cursor.level || usedSets.has(cursor.used, position)) return false;
    return (
      position === 0 || call[candidate - 1] !== call[candidate] || usedSets.has(cursor.used, position - 1)
    );
  };

  return {
    next(last, unobserved) {
      steps = 0;
      stepped = cursor.state;
      if (last === START && walk.canHide()) return HIDE;
      let candidate = Math.max(last, HIDE);
      while (candidate < levels) {
        candidate = nextPending(candidate);
        if (candidate < levels && !leavesOut(candidate, unobserved) && isWorthTrying(candidate))
          return candidate;
      }
      for (candidate = Math.max(levels, last + 1); candidate < entry.length; candidate++) {
        if (!isAvailable(candidate) || leavesOut(candidate, unobserved) || !isWorthTrying(candidate))
          continue;
        if (stepped !== cursor.state || ((traits[candidate] ?? 0) & BLIND) !== 0) return candidate;
      }
      return entry.length;
    },
    stepped: () => stepped,
    steps: () => steps,
  };
}
