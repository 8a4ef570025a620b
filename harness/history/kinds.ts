// What a kind of lock allows beyond a mutex: so many holders at once, who may share, who comes in again. The rules and the
// intervals of `grants.ts` ask here, so that none of them knows the kinds. Kernel; pure.

import type { Acquire } from './history.ts';
import type { HistoryMeta } from './op.ts';

/** So many may hold a lock of this history at once. */
export function permitsOf({ kind, permits = 1 }: HistoryMeta): number {
  return kind === 'semaphore' ? permits : 1;
}

/** The lock allows both at once. */
export function bothShare(a: Pick<Acquire, 'shared'>, b: Pick<Acquire, 'shared'>): boolean {
  return a.shared === true && b.shared === true;
}

/** Asked by the holder in the name of the attempt that was granted the lock, as only a reentrant lock has it. */
export function isReentry(
  { kind }: HistoryMeta,
  heldBy: Acquire['owner'],
  askedBy: Acquire['owner'],
): boolean {
  return kind === 'reentrant' && askedBy !== undefined && askedBy === heldBy;
}
