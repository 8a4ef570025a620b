// What can come of a vote, beside what a single Redis server answers.

import type { ErrorMeaning } from '../../contract/lock-client.ts';
import { REDIS_ERRORS } from '../redis/errors.ts';

const ALGORITHM = 'Redis documentation, "Distributed Locks with Redis", the Redlock algorithm';

export const NO_MAJORITY: ErrorMeaning = {
  match: 'no majority',
  error: 'no-majority',
  definite: true,
  meaning:
    'Too few servers answered at all. An acquire is given up on every server and never acted on; of a release (then unknown) some servers may still hold the key until it expires.',
  source: ALGORITHM,
};

export const NO_VALIDITY: ErrorMeaning = {
  match: 'no validity left',
  error: 'no-validity-left',
  definite: true,
  meaning: 'A majority voted for it, but so slowly that nothing of the lease was left; it was given back.',
  source: ALGORITHM,
};

export const REDLOCK_ERRORS: readonly ErrorMeaning[] = [...REDIS_ERRORS, NO_MAJORITY, NO_VALIDITY];
