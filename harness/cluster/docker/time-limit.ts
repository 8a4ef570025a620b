// A bound on waiting for the engine: whatever is asked of it, an answer that does not come must not hang a run.
// Used wherever a call leaves this process; knows nothing of Docker.

import type { Millis } from '../../history/op.ts';

export const LATE = Symbol('no answer in time');

/** The answer, or `LATE` when it has not come in time; what comes afterwards, an error too, is ignored. */
export async function withinLimit<T>(answer: Promise<T>, timeLimit: Millis): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(resolve, timeLimit, LATE);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
