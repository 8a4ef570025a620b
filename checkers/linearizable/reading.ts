// How a history is read before a model judges it: what its answers are taken to mean where they can mean several things.
// Each choice can decide a verdict, so it is the caller's, and whoever prints a verdict says which one was made.

/** A release that failed did nothing; nobody knows; or it took effect all the same. */
export type FailedRelease = 'held' | 'unknown' | 'released';

/** A compare-and-set that failed, or a try that was refused as busy, proves what it found; or it claims nothing. */
export type FailedCas = 'evidence' | 'ignored';

export interface LockReading {
  /** Who owns a lock: each attempt to acquire it by itself, where the history tells attempts apart, or the process. */
  readonly ownedBy: 'attempt' | 'process';
  /** Whether a lease that runs out may end a hold, for a model that has no leases itself. */
  readonly leases: 'ignored' | 'may-end';
  readonly failedRelease: FailedRelease;
  readonly failedCas: FailedCas;
}

export interface StoreReading {
  /** What a key holds at first. */
  readonly initial: string;
  readonly failedCas: FailedCas;
  /** The store checks fencing tokens: tokens are kept, and a compare-and-set is a write that was accepted. */
  readonly fenced: boolean;
}
