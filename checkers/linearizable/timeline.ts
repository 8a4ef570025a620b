// The entries of one partition laid out for the search, as candidates to take effect. First those that must have
// happened, by return: level `p` of the search is the return of the p-th, the first that has not been passed. Each has a
// slot that no other one uses while it is pending, so a set of pending entries is a few bits however long the history is.
// Then those that need not have happened, by call: of equals, the one invoked first is as good as any.

import { NEVER, NONE, type Entries } from './entries.ts';
import type { Machine, Model } from './model.ts';

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

/** Lays out the entries at `positions` (ascending) that can matter to the verdict. O(n log n). */
export function timelineOf<E extends Entries>(
  entries: E,
  model: Model<E>,
  machine: Machine,
  positions: Iterable<number>,
): Timeline {
  const judged = new Set<number>(model.judges);
  const pointless = model.pointless?.(entries);
  const inOrderOfInvocation: number[] = [];
  const required: number[] = [];
  for (const entry of positions) {
    if (!judged.has(entries.kind[entry] ?? 0)) continue;
    const mayNotHaveHappened = entries.returned[entry] === NEVER;
    if (mayNotHaveHappened && (machine.observes(entry) || pointless?.(entry) === true)) continue;
    inOrderOfInvocation.push(entry);
    if (!mayNotHaveHappened) required.push(entry);
  }
  required.sort((a, b) => (entries.returned[a] ?? 0) - (entries.returned[b] ?? 0));
  const returned = Float64Array.from(required, (entry) => entries.returned[entry] ?? 0);
  const levels = required.length;

  const opensAt = new Int32Array(entries.size);
  const optional: number[] = [];
  let level = 0;
  for (const entry of inOrderOfInvocation) {
    while (level < levels && (returned[level] ?? 0) < (entries.invoked[entry] ?? 0)) level++;
    opensAt[entry] = level;
    // After the last return nothing is left that an entry could help.
    if (entries.returned[entry] === NEVER && level < levels) optional.push(entry);
  }
  optional.sort((a, b) => (machine.call[a] ?? 0) - (machine.call[b] ?? 0) || a - b);

  const entry = new Int32Array(levels + optional.length);
  entry.set(required);
  entry.set(optional, levels);
  const opens = entry.map((position) => opensAt[position] ?? 0);
  const traits = Uint8Array.from(
    entry,
    (position) =>
      (machine.observes(position) ? OBSERVES : 0) |
      (machine.total?.(position) === true ? TOTAL : 0) |
      (machine.blind?.(position) === true ? BLIND : 0),
  );
  return {
    levels,
    entry,
    call: entry.map((position) => machine.call[position] ?? 0),
    traits,
    opens,
    anyTraits: traits.reduce((any, trait) => any | trait, 0),
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
