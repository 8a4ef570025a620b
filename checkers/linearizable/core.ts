// The smallest part of a refuted prefix that contradicts itself: entries whose answers cannot all be true whatever became of
// all others, which may then have happened at any time or never; without the answer of any one of them, an order is possible.
// To know less never refutes anything, so what is needed is found by halving (Junker 2004, "QuickXplain"): about
// log n checks for each entry of the core. Knows nothing of how a check is made.

import { NEVER, type Entries } from './entries.ts';

export interface Core {
  /** Contradict each other, if `isMinimal`; ascending. */
  readonly conflict: readonly number[];
  /** False: fewer may do, or these may not be all; to find out took more than the limits. */
  readonly isMinimal: boolean;
}

/** Whether no order explains `entries`; undefined: that takes too long. */
export type Refutes<E extends Entries> = (entries: E) => boolean | undefined;

/** After so many checks that took too long, nothing more is checked. */
const UNKNOWN_MAX = 8;
/** Of the first search for enough, beyond the guess; then twice as many, and so on. */
const FIRST_OTHERS = 4;
/** A core that is larger, and may not be minimal, tells less than the guess. */
const TELLING_MAX = 20;

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

  const isKnown = (entry: number): boolean => entries.returned[entry] !== NEVER;
  const guessed = [...new Set(guess)].filter(isKnown);
  let enough: readonly number[] = guessed;
  if (!contradict(guessed)) {
    const lastFirst = [...Array(entries.size).keys()]
      .filter((entry) => isKnown(entry) && !guessed.includes(entry))
      .sort((a, b) => (entries.returned[b] ?? 0) - (entries.returned[a] ?? 0));
    for (let more = FIRST_OTHERS; ; more *= 2) {
      enough = [...guessed, ...lastFirst.slice(0, more)];
      if (more >= lastFirst.length || contradict(enough)) break;
      if (unknown > UNKNOWN_MAX) return { conflict: guess.toSorted((a, b) => a - b), isMinimal: false };
    }
  }
  const conflict = needed([], enough, false);
  const found = unknown > 0 && conflict.length > TELLING_MAX ? guess : conflict;
  return { conflict: found.toSorted((a, b) => a - b), isMinimal: unknown === 0 };
}
