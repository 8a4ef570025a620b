// What a polynomial checker says about one partition, and how the shortest refuted prefix is found where the checker
// itself does not sweep in the order of returns.

import { NEVER, prefix, type Entries } from '../entries.ts';

/** Why no order exists, to be told in words. */
export type Reason =
  | 'held-by-another'
  | 'point-inside-hold'
  | 'disowned-while-holding'
  | 'success-without-hold'
  | 'success-after-end'
  | 'busy-while-free'
  | 'token-order'
  | 'no-opposite'
  | 'read-of-nothing'
  | 'read-before-write'
  | 'two-successors'
  | 'writes-interleave'
  | 'stale-without-higher'
  /** What a search found, which tries orders and knows no reason. */
  | 'no-order';

/** Of entries `E`. */
export type Decision<E extends Entries = never> =
  | { readonly verdict: 'valid' }
  /** Outside what the checker is exact for; the general search decides, by the residue if there is one. */
  | { readonly verdict: 'undecided'; readonly residue?: Residue<E> }
  | Refutation;

/** What of the whole has to be searched. */
export interface Residue<E extends Entries> {
  /** Without what need not have happened. If each is linearizable, so is the whole. */
  readonly parts: readonly Excerpt<E>[];
  /** These parts, by number, with all that may have happened. If the others are linearizable, this decides. */
  readonly together: (parts: readonly number[]) => Excerpt<E>;
}

export interface Excerpt<E extends Entries> {
  readonly entries: E;
  /** By entry of the excerpt: the entry of the whole. Ascending. */
  readonly positions: readonly number[];
}

export interface Refutation {
  readonly verdict: 'invalid';
  /** The entry whose return makes it certain. */
  readonly refuted: number;
  /** The entries that contradict each other, in the order in which a story tells them; the refuted one among them. */
  readonly conflict: readonly number[];
  readonly reason: Reason;
}

export const VALID: Decision = { verdict: 'valid' };
export const UNDECIDED = { verdict: 'undecided' } as const satisfies Decision;

/**
 * The refutation of the shortest prefix that `decide` refutes, given its refutation of the whole. Cutting a history short
 * never refutes it, so halving finds it: O(log n) calls of `decide`, two if `found` is the shortest. A prefix may be
 * outside what a polynomial checker is exact for though the whole is not, so `decide` may have to search.
 */
export function shortest<E extends Entries>(
  entries: E,
  decide: (entries: E) => Decision<E>,
  found: Refutation,
): Refutation {
  const stamps = entries.returned.filter((stamp) => stamp !== NEVER).sort();
  let best = found;
  /** Everything up to `low` is not refuted, everything from `high` on is. */
  let low = -1;
  let high = stamps.length - 1;
  // Most refutations are the shortest already: look there first.
  const guess = stamps.indexOf(entries.returned[found.refuted] ?? 0);
  const guesses = [guess, guess - 1];
  while (high - low > 1) {
    const guessed = guesses.shift();
    const middle = guessed !== undefined && guessed > low && guessed < high ? guessed : (low + high) >> 1;
    const decision = decide(prefix(entries, stamps[middle] ?? 0));
    if (decision.verdict === 'invalid') {
      best = decision;
      high = middle;
    } else low = middle;
  }
  const stamp = stamps[high];
  if (entries.returned[best.refuted] === stamp) return best;
  const refuted = best.conflict.find((entry) => entries.returned[entry] === stamp);
  return { ...best, refuted: refuted ?? entries.returned.indexOf(stamp ?? 0) };
}
