// What can come of an attempt that asks for confirmation, beside what a single Redis server answers.

import type { ErrorMeaning } from '../../contract/lock-client.ts';
import { REDIS_ERRORS } from '../redis/errors.ts';

export const NOT_REPLICATED: ErrorMeaning = {
  match: 'not replicated',
  error: 'not-replicated',
  definite: true,
  meaning: 'Fewer replicas than asked for had the key in time; it was taken back on the primary.',
  source:
    'WAIT command, Redis 8.0: the reply is the number of replicas that acknowledged, also when that is too small',
};

export const REPLICATED_ERRORS: readonly ErrorMeaning[] = [...REDIS_ERRORS, NOT_REPLICATED];
