// Whose operation is it? A release or renewal says which process made it and not which of its attempts to acquire it was
// meant for. With one attempt open that is plain. With several (an unanswered one tried again, a grant that was lost and
// never released) it is not, and then nothing is taken as proved: it may have acted on any of them.

import type { OpName, Outcome } from '../../harness/history/op.ts';

/** What has to be known of an operation to attribute it. */
export interface Attributable {
  readonly op: OpName;
  readonly process: string;
  readonly invoked: number;
  readonly completed: number | undefined;
  readonly outcome: Outcome;
  readonly owner?: string | undefined;
  readonly ttlMillis?: number | undefined;
}

export interface Attribution {
  /** The number of the owner whose it certainly is; undefined: nobody knows. */
  readonly owner: number | undefined;
  /** Others it may have been meant for. */
  readonly mayBeOf: readonly number[];
  /** Of an acquire or renewal: the lease it asks for. */
  readonly ttlMillis: number | undefined;
}

const NOBODY: readonly number[] = [];

interface Attempt {
  readonly owner: number;
  /** When it was granted; Infinity: nobody knows that it was. */
  readonly grantedAt: number;
  readonly ttlMillis: number | undefined;
  /** A release answered that it took effect: it may only be repeated. */
  ended: boolean;
}

/**
 * Takes the operations of one lock in order of invocation. `attempt` needs owners in the history; else it is the process.
 * `numberOf` gives owners of one name one number.
 */
export function attribution(
  ownedBy: 'attempt' | 'process',
  numberOf: (owner: string) => number,
): (operation: Attributable) => Attribution {
  const attemptsOf = new Map<string, Attempt[]>();
  return (operation) => {
    const { process, invoked, outcome } = operation;
    let known = attemptsOf.get(process);
    if (known === undefined) attemptsOf.set(process, (known = []));
    if (operation.op === 'acquire') {
      const owner = numberOf(ownedBy === 'attempt' ? (operation.owner ?? process) : process);
      if (outcome !== 'fail') {
        let open = 0;
        for (const other of known) if (!other.ended && other.owner !== owner) known[open++] = other;
        const grantedAt = outcome === 'ok' ? (operation.completed ?? Infinity) : Infinity;
        known[open++] = { owner, grantedAt, ttlMillis: operation.ttlMillis, ended: false };
        if (open < known.length) known.length = open;
      }
      return { owner, mayBeOf: NOBODY, ttlMillis: operation.ttlMillis };
    }
    const last = known.at(-1);
    const isPlain = known.length < 2 || (last !== undefined && last.grantedAt <= invoked);
    const ttlMillis = operation.op === 'renew' ? (operation.ttlMillis ?? last?.ttlMillis) : undefined;
    if (operation.op === 'release' && outcome === 'ok') for (const attempt of known) attempt.ended = true;
    // Once the last attempt was granted, whatever came of those before it is over.
    return isPlain
      ? { owner: last?.owner ?? numberOf(process), mayBeOf: NOBODY, ttlMillis }
      : { owner: undefined, mayBeOf: known.map(({ owner }) => owner), ttlMillis };
  };
}
