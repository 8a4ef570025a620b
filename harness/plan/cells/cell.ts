// What a catalogued cell is, and the expectations that many cells share (2.4 of the design).

import { SAFETY_CODES, type Expectation, type Grade } from '../../../checkers/verdict.ts';
import type { PlanInput } from '../plan.ts';

export interface Cell {
  readonly backend: string;
  /** Of its servers. */
  readonly variant: string;
  readonly recipe: string;
  readonly fault: string;
  readonly workload: string;
  /** Where it needs other settings than the defaults to show what it shows. */
  readonly settings: PlanInput;
  readonly expected: Expectation;
  /** Why, in one or two sentences. */
  readonly because: string;
}

/** A cell of one backend, and of its default variant unless it names another. */
export type CellOfBackend = Omit<Cell, 'backend' | 'variant'> & Partial<Pick<Cell, 'variant'>>;

/** The grade, what must be found, and what may be. */
export function expectedWords(expectation: Expectation): string {
  const { grade, findings, oneOf, liveness, allowed, queueJumps, changed = [] } = expectation;
  const musts = [
    ...findings,
    ...liveness,
    ...(oneOf.length === 0 ? [] : [oneOf.join(' or ')]),
    ...(queueJumps === true ? ['queue jumps'] : []),
  ];
  const mays = allowed.filter((code) => !findings.includes(code) && !oneOf.includes(code));
  return [
    `${grade}${musts.length === 0 ? '' : `: ${musts.join(', ')}`}`,
    ...(mays.length === 0 ? [] : [`perhaps ${mays.join(', ')}`]),
    ...(changed.length === 0 || grade === 'safe' ? [] : [`not shown of ${changed.join(' ')}`]),
  ].join('; ');
}

export const safe: Expectation = { grade: 'safe', findings: [], oneOf: [], liveness: [], allowed: [] };

/** What a user expects who names a grade: any finding that goes with it. */
export function ofGrade(grade: Grade): Expectation {
  return grade === 'safe' ? safe : { ...safe, grade, allowed: SAFETY_CODES };
}

/**
 * Two clients believed they held it, and the store that checks nothing was harmed. A client that is stopped between
 * request and answer is given what has run out; of the recipes only `redlock` looks, as its authors ask.
 */
export const outlived: Expectation = {
  grade: 'unsafe',
  findings: ['belief-overlap'],
  oneOf: ['stale-write-landed', 'lost-update'],
  liveness: [],
  allowed: ['stale-write-landed', 'lost-update', 'expired-grant'],
};

/** The same harm to the store that checks nothing; the one that checks the token stayed clean. */
export const outlivedButFenced: Expectation = { ...outlived, grade: 'safe-with-fencing' };

/** The service gave the lock to a second client while the first one's tenure was certain, and there was no token. */
export const givenTwice: Expectation = {
  grade: 'unsafe',
  findings: ['double-grant'],
  oneOf: [],
  liveness: [],
  allowed: ['belief-overlap', 'stale-write-landed', 'lost-update'],
};

/** The same, and the tokens of the second grants are not above those of the first. */
export const givenTwiceWithOldTokens: Expectation = {
  ...givenTwice,
  findings: ['double-grant', 'token-regression'],
};
