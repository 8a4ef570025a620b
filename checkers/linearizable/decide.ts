// One partition judged by one model: the checker without search where there is one, the general search for what that
// leaves undecided. A refutation is shortened to the first return that no order explains, and carries the longest orders
// that were possible. Budgets are steps and bytes, so the answer is the same on every machine. Knows entries only.

import { NEVER, prefix, type Entries } from './entries.ts';
import type { PartialOrder, SearchLimits } from './explore.ts';
import type { Model } from './model.ts';
import {
  shortest,
  UNDECIDED,
  VALID,
  type Decision,
  type Reason,
  type Refutation,
} from './polynomial/decision.ts';
import { search } from './search.ts';

export interface Contradiction {
  /** The first entry whose return no order explains. */
  readonly refuted: number;
  /** Entries that contradict each other, the refuted one among them. */
  readonly conflict: readonly number[];
  /** `no-order`: what the search found, which tries orders and knows no reason. */
  readonly reason: Reason | 'no-order';
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

export function decidePartition<E extends Entries>(
  entries: E,
  model: Model<E>,
  limits: SearchLimits,
  decide: (entries: E) => Decision = () => UNDECIDED,
): PartitionVerdict {
  const decision = decide(entries);
  if (decision.verdict === 'valid') return { verdict: 'valid', steps: 0 };
  if (decision.verdict === 'invalid') {
    const contradiction = (): Contradiction => withoutSearch(entries, model, limits, { decide, decision });
    return { verdict: 'invalid', steps: 0, contradiction };
  }
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
      return { refuted, conflict: [...new Set([...last, refuted])], reason: 'no-order', orders, isShortest };
    },
  };
}

function withoutSearch<E extends Entries>(
  entries: E,
  model: Model<E>,
  limits: SearchLimits,
  { decide, decision }: { readonly decide: (entries: E) => Decision; readonly decision: Refutation },
): Contradiction {
  const telling = { ...limits, stepsMax: Math.min(limits.stepsMax, TELLING_STEPS_MAX) };
  let isShortest = true;
  const { refuted, conflict, reason } = shortest(
    entries,
    (part) => {
      const decided = decide(part);
      if (decided.verdict !== 'undecided') return decided;
      const found = search(part, model, { limits: telling });
      isShortest &&= found.verdict !== 'unknown';
      return found.verdict === 'invalid' ? { ...decision, refuted: found.refutation().refuted } : VALID;
    },
    decision,
  );
  const at = entries.returned[refuted] ?? NEVER;
  const known = prefix(entries, at);
  const before = { ...known, returned: known.returned.map((stamp) => (stamp < at ? stamp : NEVER)) };
  const explained = search(before, model, { limits: telling });
  const orders = explained.verdict === 'valid' ? [explained.order()] : [];
  return { refuted, conflict, reason, orders, isShortest };
}
