// Blocks: operations that stand together in any order, in a sequence of groups. All that matters of a block to the others is
// its first return, before which it must have begun, and its last invocation, before which it cannot be over: block `a` can
// stand before block `b` if and only if nothing in `b` returned before something in `a` was invoked.

import { NONE, type StoreEntries } from '../entries.ts';
import type { Reason, Refutation } from './decision.ts';

export interface Block {
  /** The entry that returns first. */
  readonly firstReturn: number;
  /** The entry that was invoked last. */
  readonly lastInvoked: number;
}

/**
 * Sorts blocks into an order in which each can precede the next, if there is one: by first return or last invocation,
 * whichever is sooner; of equals, those that can be over at that stamp come first.
 */
export function inPlace({ invoked, returned }: StoreEntries, a: Block, b: Block): number {
  const overA = invoked[a.lastInvoked] ?? 0;
  const overB = invoked[b.lastInvoked] ?? 0;
  return (
    Math.min(returned[a.firstReturn] ?? 0, overA) - Math.min(returned[b.firstReturn] ?? 0, overB) ||
    overA - overB
  );
}

/** An entry of `before` was invoked after one of `after` had returned, so `before` cannot stand before `after`. */
export function cannotPrecede({ invoked, returned }: StoreEntries, before: Block, after: Block): boolean {
  return (invoked[before.lastInvoked] ?? 0) > (returned[after.firstReturn] ?? 0);
}

/** The block of these groups, or why they cannot follow each other. Within a group the order is free. */
export function blockOf(
  entries: StoreEntries,
  groups: Iterable<readonly number[]>,
): { readonly verdict: 'block'; readonly block: Block } | Refutation {
  const { invoked, returned } = entries;
  let firstReturn = NONE;
  let lastInvoked = NONE;
  for (const group of groups) {
    for (const entry of group)
      if (lastInvoked !== NONE && (invoked[lastInvoked] ?? 0) > (returned[entry] ?? 0))
        return refutationOf(entries, 'read-before-write', [entry, lastInvoked]);
    for (const entry of group) {
      if (firstReturn === NONE || (returned[entry] ?? 0) < (returned[firstReturn] ?? 0)) firstReturn = entry;
      if (lastInvoked === NONE || (invoked[entry] ?? 0) > (invoked[lastInvoked] ?? 0)) lastInvoked = entry;
    }
  }
  return { verdict: 'block', block: { firstReturn, lastInvoked } };
}

/** A refutation that is complete when the last of `conflict` has returned. */
export function refutationOf(
  { returned }: StoreEntries,
  reason: Reason,
  conflict: readonly number[],
): Refutation {
  const refuted = conflict.reduce((latest, entry) =>
    (returned[entry] ?? 0) > (returned[latest] ?? 0) ? entry : latest,
  );
  return { verdict: 'invalid', refuted, conflict: [...new Set(conflict)], reason };
}

/** The refutation by two blocks of which neither can precede the other. */
export function interleaving(entries: StoreEntries, a: Block, b: Block): Refutation {
  return refutationOf(entries, 'writes-interleave', [
    a.firstReturn,
    b.lastInvoked,
    b.firstReturn,
    a.lastInvoked,
  ]);
}
