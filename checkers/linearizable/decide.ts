// One partition judged by one model: the checker without search where there is one, the general search for what that
// leaves undecided. A refutation is shortened to the first return that no order explains, and carries the longest orders
// that were possible. Budgets are steps and bytes, so the answer is the same on every machine. Knows entries only.

import { coreOf, type Core } from './core.ts';
import { NEVER, prefix, type Entries } from './entries.ts';
import type { PartialOrder, SearchLimits } from './explore.ts';
import type { Model } from './model.ts';
import {
  shortest,
  UNDECIDED,
  VALID,
  type Decision,
  type Excerpt,
  type Reason,
  type Refutation,
  type Residue,
} from './polynomial/decision.ts';
import { search, type SearchResult } from './search.ts';

export interface Contradiction {
  /** The first entry whose return no order explains. */
  readonly refuted: number;
  /** Entries that contradict each other whatever the others did, or those later than `given`; ascending. */
  readonly conflict: readonly number[];
  /** So many answers of before are taken as they were, because without them too many would contradict each other to be told. */
  readonly given: number;
  /** Without the answer of any one of them an order is possible. False: nobody knows; to find out took more than the limits. */
  readonly isMinimal: boolean;
  /** What else the reason is told with, such as the acquire that a renewal belongs to; ascending. */
  readonly context: readonly number[];
  readonly reason: Reason;
  /** Some of the longest orders, all of which explain everything that returned before; none if that took too long. */
  readonly orders: readonly PartialOrder[];
  /** False: an earlier return may be refuted already; to find out took more than the limits. */
  readonly isShortest: boolean;
}

export type PartitionVerdict = { readonly steps: number } & (
  | { readonly verdict: 'valid' }
  /** The contradiction takes work of its own, so it is made when it is asked for. */
  | { readonly verdict: 'invalid'; readonly contradiction: () => Contradiction }
  | {
      readonly verdict: 'unknown';
      readonly exhausted: 'steps' | 'memory';
      /** The entry whose return was to be explained next, where the search got furthest. */
      readonly reached: number;
    }
);

/** What is spent on telling how far orders got, once it is certain that none gets to the end. */
const TELLING_STEPS_MAX = 5_000_000;
/** What is spent on the smallest contradiction: checks without search by entries they look at, others by their steps. */
const CORE_STEPS_MAX = 1_000_000;
/** But so many checks in any case. */
const CORE_CHECKS_MIN = 8;
/** Of one search for it. */
const CORE_SEARCH_STEPS_MAX = 50_000;

export function decidePartition<E extends Entries>(
  entries: E,
  model: Model<E>,
  limits: SearchLimits,
  decide: (entries: E) => Decision<E> = () => UNDECIDED,
): PartitionVerdict {
  const decision = decide(entries);
  if (decision.verdict === 'valid') return { verdict: 'valid', steps: 0 };
  if (decision.verdict === 'invalid') {
    const contradiction = (): Contradiction => withoutSearch(entries, model, limits, { decide, decision });
    return { verdict: 'invalid', steps: 0, contradiction };
  }
  const { residue } = decision;
  if (residue !== undefined) return ofResidue(entries, model, limits, { decide, residue });
  const found = search(entries, model, { limits });
  const { steps } = found;
  if (found.verdict === 'valid') return { verdict: 'valid', steps };
  if (found.verdict === 'unknown') {
    const { verdict, exhausted, reached } = found;
    return { verdict, steps, exhausted, reached };
  }
  return {
    verdict: 'invalid',
    steps,
    contradiction() {
      const { refuted, orders, isShortest } = found.refutation();
      // What made the state in which the refuted one cannot follow.
      const last = orders.flatMap(({ entries: order }) => order.at(-1) ?? []);
      const guess = [refuted, ...last];
      const core = smallest(entries, model, limits, { decide, refuted, guess });
      const context = core.given === 0 ? [] : besides(core, guess);
      return { refuted, ...core, context, reason: 'no-order', orders, isShortest };
    },
  };
}

/** The parts one by one; those that need what may have happened, together. */
function ofResidue<E extends Entries>(
  entries: E,
  model: Model<E>,
  limits: SearchLimits,
  { decide, residue }: { readonly decide: (entries: E) => Decision<E>; readonly residue: Residue<E> },
): PartitionVerdict {
  let steps = 0;
  const searched = (excerpt: Excerpt<E>): SearchResult => {
    const found = search(excerpt.entries, model, {
      limits: { ...limits, stepsMax: limits.stepsMax - steps },
    });
    steps += found.steps;
    return found;
  };
  const needy: number[] = [];
  for (const [part, excerpt] of residue.parts.entries()) {
    const found = searched(excerpt);
    if (found.verdict === 'unknown') return gaveUp(found, excerpt);
    if (found.verdict === 'invalid') needy.push(part);
  }
  if (needy.length === 0) return { verdict: 'valid', steps };
  const together = residue.together(needy);
  const found = searched(together);
  if (found.verdict === 'valid') return { verdict: 'valid', steps };
  if (found.verdict === 'unknown') return gaveUp(found, together);
  return {
    verdict: 'invalid',
    steps,
    contradiction() {
      const refuted = together.positions[found.refutation().refuted] ?? 0;
      const decision = { verdict: 'invalid', refuted, conflict: [refuted], reason: 'no-order' } as const;
      return withoutSearch(entries, model, limits, { decide, decision });
    },
  };

  function gaveUp(
    { exhausted, reached }: Extract<SearchResult, { verdict: 'unknown' }>,
    { positions }: Excerpt<E>,
  ): PartitionVerdict {
    return { verdict: 'unknown', steps, exhausted, reached: positions[reached] ?? 0 };
  }
}

function withoutSearch<E extends Entries>(
  entries: E,
  model: Model<E>,
  limits: SearchLimits,
  { decide, decision }: { readonly decide: (entries: E) => Decision<E>; readonly decision: Refutation },
): Contradiction {
  const telling = { ...limits, stepsMax: Math.min(limits.stepsMax, TELLING_STEPS_MAX) };
  let isShortest = true;
  const { refuted, conflict, reason } = shortest(
    entries,
    (part) => {
      const decided = decide(part);
      if (decided.verdict !== 'undecided') return decided;
      const { verdict } = decidePartition(part, model, telling, () => decided);
      isShortest &&= verdict !== 'unknown';
      return verdict === 'invalid' ? decision : VALID;
    },
    decision,
  );
  const at = entries.returned[refuted] ?? NEVER;
  const known = prefix(entries, at);
  const before = { ...known, returned: known.returned.map((stamp) => (stamp < at ? stamp : NEVER)) };
  const explained = search(before, model, { limits: telling });
  const orders = explained.verdict === 'valid' ? [explained.order()] : [];
  const core = smallest(entries, model, limits, { decide, refuted, guess: conflict });
  return { refuted, ...core, context: besides(core, conflict), reason, orders, isShortest };
}

function besides({ conflict }: Core, guess: readonly number[]): readonly number[] {
  return [...new Set(guess)].filter((entry) => !conflict.includes(entry)).sort((a, b) => a - b);
}

/** What contradicts itself of all that had returned when `refuted` did. */
function smallest<E extends Entries>(
  entries: E,
  model: Model<E>,
  limits: SearchLimits,
  {
    decide,
    refuted,
    guess,
  }: {
    readonly decide: (entries: E) => Decision<E>;
    readonly refuted: number;
    readonly guess: readonly number[];
  },
): Core {
  const known = prefix(entries, entries.returned[refuted] ?? NEVER);
  let left = Math.max(CORE_STEPS_MAX, CORE_CHECKS_MIN * known.size);
  return coreOf(known, guess, (part) => {
    left -= part.size;
    if (left < 0) return undefined;
    const stepsMax = Math.min(left, CORE_SEARCH_STEPS_MAX, limits.stepsMax);
    const { verdict, steps } = decidePartition(part, model, { ...limits, stepsMax }, decide);
    left -= steps;
    return verdict === 'unknown' ? undefined : verdict === 'invalid';
  });
}
