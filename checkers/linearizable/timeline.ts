// The entries of one partition laid out for the search, as candidates to take effect. First those that must have
// happened, by return: level `p` of the search is the return of the p-th, the first that has not been passed. Each has a
// slot that no other one uses while it is pending, so a set of pending entries is a few bits however long the history is.
// Then those that need not have happened, by call: of equals, the one invoked first is as good as any.

import { kindsIn, NEVER, NONE, type Entries } from './entries.ts';
import type { Machine, Model } from './model.ts';
import { sortRows } from '../../harness/history/sort-rows.ts';

/** Bits of `traits`. */
export const OBSERVES = 1;
/** Legal in every state, so it can be hidden: take effect right before a blind one, which nobody sees. */
export const TOTAL = 2;
/** Total, and leaves a state that does not depend on the one before. */
export const BLIND = 4;

export interface Timeline {
  /** The number of candidates that must have happened; a candidate below it is also a level. */
  readonly levels: number;
  /** By candidate, as are the next three. */
  readonly entry: Int32Array;
  readonly call: Int32Array;
  readonly traits: Uint8Array;
  /** The first level at which it may take effect. */
  readonly opens: Int32Array;
  /** Of all candidates together. */
  readonly anyTraits: number;
  /** By level: the stamp of the return. */
  readonly returned: Float64Array;
  readonly slots: number;
  readonly slot: Int32Array;
  /** By level: the level of the next candidate in the same slot, or `levels`. */
  readonly nextInSlot: Int32Array;
  /** By slot: the level of its first candidate. */
  readonly firstInSlot: Int32Array;
}

/** Lays out the entries at `positions` (ascending; undefined: all) that can matter to the verdict. O(n log n). */
export function timelineOf<E extends Entries>(
  entries: E,
  model: Model<E>,
  machine: Machine,
  positions: readonly number[] | undefined,
): Timeline {
  const { kind, invoked } = entries;
  const judged = kindsIn(model.judges);
  const pointless = model.pointless?.(entries);
  const count = positions?.length ?? entries.size;
  const inOrderOfInvocation = new Int32Array(count);
  const required = new Int32Array(count);
  let [laid, levels] = [0, 0];
  for (let index = 0; index < count; index++) {
    const entry = positions === undefined ? index : (positions[index] ?? 0);
    if (judged[kind[entry] ?? 0] !== 1) continue;
    const mayNotHaveHappened = entries.returned[entry] === NEVER;
    if (mayNotHaveHappened && (machine.observes(entry) || pointless?.(entry) === true)) continue;
    inOrderOfInvocation[laid++] = entry;
    if (!mayNotHaveHappened) required[levels++] = entry;
  }
  const byReturn = sortRows(required.subarray(0, levels), entries.returned);
  const returned = new Float64Array(levels);
  for (let level = 0; level < levels; level++) returned[level] = entries.returned[byReturn[level] ?? 0] ?? 0;

  const opensAt = new Int32Array(entries.size);
  const optional: number[] = [];
  let level = 0;
  for (const entry of inOrderOfInvocation.subarray(0, laid)) {
    while (level < levels && (returned[level] ?? 0) < (invoked[entry] ?? 0)) level++;
    opensAt[entry] = level;
    // After the last return nothing is left that an entry could help.
    if (entries.returned[entry] === NEVER && level < levels) optional.push(entry);
  }
  optional.sort((a, b) => (machine.call[a] ?? 0) - (machine.call[b] ?? 0) || a - b);

  const candidates = levels + optional.length;
  const entry = new Int32Array(candidates);
  entry.set(byReturn);
  entry.set(optional, levels);
  const opens = new Int32Array(candidates);
  const call = new Int32Array(candidates);
  const traits = new Uint8Array(candidates);
  let anyTraits = 0;
  for (let candidate = 0; candidate < candidates; candidate++) {
    const position = entry[candidate] ?? 0;
    opens[candidate] = opensAt[position] ?? 0;
    call[candidate] = machine.call[position] ?? 0;
    const trait =
      (machine.observes(position) ? OBSERVES : 0) |
      (machine.total?.(position) === true ? TOTAL : 0) |
      (machine.blind?.(position) === true ? BLIND : 0);
    traits[candidate] = trait;
    anyTraits |= trait;
  }
  return {
    levels,
    entry,
    call,
    traits,
    opens,
    anyTraits,
    returned,
    ...slotsOf(opens.subarray(0, levels)),
  };
}

/** A candidate holds its slot from the level at which it opens to its own. O(n). */
function slotsOf(opens: Int32Array): Pick<Timeline, 'slot' | 'slots' | 'nextInSlot' | 'firstInSlot'> {
  const levels = opens.length;
  // The candidates that open at one level, as a list: its head by level, then the next by candidate.
  const head = new Int32Array(levels).fill(NONE);
  const next = new Int32Array(levels).fill(NONE);
  for (let candidate = levels - 1; candidate >= 0; candidate--) {
    const level = opens[candidate] ?? 0;
    next[candidate] = head[level] ?? NONE;
    head[level] = candidate;
  }
  const slot = new Int32Array(levels);
  const nextInSlot = new Int32Array(levels).fill(levels);
  const firstInSlot: number[] = [];
  const lastInSlot: number[] = [];
  const free: number[] = [];
  for (let level = 0; level < levels; level++) {
    for (let candidate = head[level] ?? NONE; candidate !== NONE; candidate = next[candidate] ?? NONE) {
      const taken = free.pop() ?? firstInSlot.length;
      slot[candidate] = taken;
      const before = lastInSlot[taken];
      if (before === undefined) firstInSlot[taken] = candidate;
      else nextInSlot[before] = candidate;
      lastInSlot[taken] = candidate;
    }
    free.push(slot[level] ?? 0);
  }
  return { slot, slots: firstInSlot.length, nextInSlot, firstInSlot: Int32Array.from(firstInSlot) };
}
