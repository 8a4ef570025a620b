// One place in the timeline, moved forward by letting candidates take effect and back by going to an earlier level.
// It applies the rules that leave no choice: what only observes takes effect as soon as it can, and a return is passed
// once its entry took effect. The choices are the search's.

import type { Cursor } from './configurations.ts';
import { NEVER, NONE } from './entries.ts';
import { DOOMED, ILLEGAL, type Machine } from './model.ts';
import { BLIND, OBSERVES, TOTAL, type Timeline } from './timeline.ts';

export interface Walk {
  readonly cursor: Cursor;
  /** By slot: the candidate that is pending in it or will be next. */
  readonly occupant: Int32Array;
  /** The candidate has not taken effect, and may at this level. */
  readonly pending: (slot: number) => boolean;
  /** The state after `candidate` takes effect here, or `ILLEGAL`. */
  readonly step: (candidate: number) => number;
  /** The state after a blind candidate, whatever it was before. */
  readonly stateAfterBlind: (candidate: number) => number;
  /** `candidate` takes effect, leaving `state`. Who keeps sets of optional candidates marks those himself. */
  take(candidate: number, state: number): void;
  /** The candidate that returns next could have taken effect unseen. */
  canHide(): boolean;
  /** It did. */
  hide(): void;
  /** Applies the rules that leave no choice. Returns how many candidates took effect by them; `order` collects them. */
  settle(order?: number[]): number;
  /** Goes back to the beginning, with the state `root`. */
  restart(root: number): void;
  /** Goes back to `level`, which is not after the cursor's; the caller restores the rest of the cursor. */
  rewind(level: number): void;
}

export function createWalk(machine: Machine, timeline: Timeline): Walk {
  const { levels, entry, traits, opens, anyTraits, returned, slots, slot, nextInSlot, firstInSlot } =
    timeline;
  const occupant = firstInSlot.slice();
  const bits = new Int32Array(Math.max(1, Math.ceil(slots / 32)));
  const cursor: Cursor = { level: 0, state: machine.initial, used: 0, overwritten: NONE, bits };
  const anyObserves = (anyTraits & OBSERVES) !== 0;

  const isSet = (index: number): boolean => (((bits[index >>> 5] ?? 0) >>> (index & 31)) & 1) === 1;
  const toggle = (index: number): void => {
    bits[index >>> 5] = (bits[index >>> 5] ?? 0) ^ (1 << (index & 31));
  };
  const pending = (index: number): boolean => {
    const candidate = occupant[index] ?? levels;
    return candidate < levels && (opens[candidate] ?? 0) <= cursor.level && !isSet(index);
  };
  const stateAfterBlind = (candidate: number): number =>
    machine.step(machine.initial, entry[candidate] ?? 0, NEVER);
  const step = (candidate: number): number => {
    if (cursor.state !== DOOMED)
      return machine.step(cursor.state, entry[candidate] ?? 0, returned[cursor.level] ?? 0);
    if (((traits[candidate] ?? 0) & BLIND) !== 0) return stateAfterBlind(candidate);
    return ((traits[candidate] ?? 0) & TOTAL) !== 0 ? DOOMED : ILLEGAL;
  };

  const observe = (order: number[] | undefined): number => {
    let observed = 0;
    for (let index = 0; index < slots; index++) {
      if (!pending(index)) continue;
      const candidate = occupant[index] ?? 0;
      if (((traits[candidate] ?? 0) & OBSERVES) === 0 || step(candidate) === ILLEGAL) continue;
      toggle(index);
      order?.push(candidate);
      observed++;
    }
    return observed;
  };

  const passOne = (): void => {
    occupant[slot[cursor.level] ?? 0] = nextInSlot[cursor.level] ?? levels;
    cursor.level++;
  };
  /** Passes the returns of entries that took effect. */
  const pass = (): boolean => {
    const from = cursor.level;
    while (cursor.level < levels && isSet(slot[cursor.level] ?? 0)) {
      toggle(slot[cursor.level] ?? 0);
      passOne();
    }
    return cursor.level > from;
  };

  const rewind = (level: number): void => {
    while (cursor.level > level) {
      cursor.level--;
      occupant[slot[cursor.level] ?? 0] = cursor.level;
    }
  };

  return {
    cursor,
    occupant,
    pending,
    step,
    stateAfterBlind,
    take(candidate, state) {
      if (candidate < levels) toggle(slot[candidate] ?? 0);
      if (((traits[candidate] ?? 0) & BLIND) !== 0) cursor.overwritten = cursor.level;
      cursor.state = state;
    },
    canHide: () =>
      ((traits[cursor.level] ?? 0) & TOTAL) !== 0 && (opens[cursor.level] ?? 0) <= cursor.overwritten,
    hide: passOne,
    settle(order) {
      let observed = 0;
      do if (anyObserves) observed += observe(order);
      while (pass() && cursor.level < levels);
      return observed;
    },
    restart(root) {
      rewind(0);
      bits.fill(0);
      Object.assign(cursor, { state: root, used: 0, overwritten: NONE });
    },
    rewind,
  };
}
