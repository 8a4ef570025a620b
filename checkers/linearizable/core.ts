// The smallest part of a refuted prefix that contradicts itself: entries whose answers cannot all be true whatever became of
// all others, which may then have happened at any time or never; without the answer of any one of them, an order is possible.
// To know less never refutes anything, so what is needed is found by halving (Junker 2004, "QuickXplain"): about
// log n checks for each entry of the core. Knows nothing of how a check is made.

import { NEVER, type Entries } from './entries.ts';

export interface Core {
  /** Contradict each other, given what is taken as it was; ascending. */
  readonly conflict: readonly number[];
  /** So many answers of before are taken as they were, because without them the contradiction would be too large to tell. */
  readonly given: number;
  /** False: fewer may do; to find out took more than the limits. */
  readonly isMinimal: boolean;
}

/** Whether no order explains `entries`; undefined: that takes too long. */
export type Refutes<E extends Entries> = (entries: E) => boolean | undefined;

/** After so many checks that took too long, nothing more is checked. */
const UNKNOWN_MAX = 6;
/** So many of the last answers are looked at first, then twice as many, and so on. */
const FIRST_LAST = 4;
/** But not more than this. */
const FEW_MAX = 128;
/** Of a contradiction that is larger than this, only the end is told. */
const TELLING_MAX = 12;

/** Of entries that are refuted. `guess`: entries that probably are the contradiction, the most telling first. */
export function coreOf<E extends Entries>(entries: E, guess: readonly number[], refutes: Refutes<E>): Core {
  let unknown = 0;
  const contradict = (answers: readonly number[]): boolean => {
    const returned = new Float64Array(entries.size).fill(NEVER);
    for (const entry of answers) returned[entry] = entries.returned[entry] ?? NEVER;
    const isRefuted = refutes({ ...entries, returned });
    if (isRefuted === undefined) unknown++;
    return isRefuted === true;
  };
  /** Those of `candidates` that with `given` contradict each other: as few as do, and early ones rather than late ones. */
  const needed = (
    given: readonly number[],
    candidates: readonly number[],
    isNew: boolean,
  ): readonly number[] => {
    if (unknown > UNKNOWN_MAX) return candidates;
    if (isNew && contradict(given)) return [];
    if (candidates.length <= 1) return candidates;
    const half = candidates.length >> 1;
    const early = candidates.slice(0, half);
    const late = needed([...given, ...early], candidates.slice(half), true);
    return [...needed([...given, ...late], early, late.length > 0), ...late];
  };
  const coreIn = (given: readonly number[], candidates: readonly number[]): Core => {
    const conflict = needed(given, candidates, given.length > 0).toSorted((a, b) => a - b);
    return { conflict, given: given.length, isMinimal: unknown === 0 };
  };

  const isKnown = (entry: number): boolean => entries.returned[entry] !== NEVER;
  const guessed = [...new Set(guess)].filter(isKnown);
  if (contradict(guessed)) return coreIn([], guessed);
  const lastFirst = [...Array(entries.size).keys()]
    .filter((entry) => isKnown(entry) && !guessed.includes(entry))
    .sort((a, b) => (entries.returned[b] ?? 0) - (entries.returned[a] ?? 0));
  for (let count = FIRST_LAST; count <= FEW_MAX; count *= 2) {
    const enough = [...guessed, ...lastFirst.slice(0, count)];
    if (count < lastFirst.length && !contradict(enough)) {
      if (unknown > 0) break;
      continue;
    }
    const core = coreIn([], enough);
    if (core.conflict.length <= TELLING_MAX) return core;
    break;
  }
  // All together do contradict each other.
  unknown = 0;
  return coreIn(lastFirst.slice(TELLING_MAX), [...guessed, ...lastFirst.slice(0, TELLING_MAX)]);
}
