// What comes of a request to etcd: its answer, what its error means, or, when its time is up, that nobody knows.

import type { Timer } from '../../clock.ts';
import type { Outcome } from '../../contract/lock-client.ts';
import type { Millis } from '../../history/op.ts';
import { outcomeOf, outcomeOfError, TIMED_OUT } from './errors.ts';

/** Never rejects. An answer that comes later is dropped. */
export function outcomeWithin<T>(
  answer: Promise<T>,
  { timer, timeLimit }: { readonly timer: Timer; readonly timeLimit: Millis },
  meaningOf: (error: unknown) => Outcome<T> = outcomeOfError,
): Promise<Outcome<T>> {
  return new Promise((resolve) => {
    const cancel = timer(timeLimit, () => resolve(outcomeOf(TIMED_OUT)));
    const settle = (outcome: Outcome<T>): void => {
      cancel();
      resolve(outcome);
    };
    answer.then(
      (value) => settle({ kind: 'ok', value }),
      (error: unknown) => settle(meaningOf(error)),
    );
  });
}
