// Giving a lock back must not depend on one request: what was not removed, or may not have been, blocks everybody for as
// long as its session or lease lives. Knows no backend.

import type { Clock } from '../clock.ts';
import type { Outcome } from '../contract/lock-client.ts';
import { millis } from '../history/op.ts';

const PAUSE = millis(20);
/** For which the caller waits; most outages are over by then. */
const TRIES = 4;

/**
 * Tries until it was answered `ok`; the caller gets that answer, or the last of a few, and then it goes on in the
 * background for as long as `worthwhile` says.
 */
export async function untilDone<T>(
  clock: Clock,
  attempt: () => Promise<Outcome<T>>,
  worthwhile: () => boolean,
): Promise<Outcome<T>> {
  let outcome = await attempt();
  for (let tries = 1; outcome.kind !== 'ok' && tries < TRIES && worthwhile(); tries++) {
    await clock.sleep(PAUSE);
    outcome = await attempt();
  }
  const goOn = async (): Promise<void> => {
    while (worthwhile()) {
      await clock.sleep(PAUSE);
      if ((await attempt()).kind === 'ok') return;
    }
  };
  if (outcome.kind !== 'ok') void goOn();
  return outcome;
}

/**
 * `untilDone` for a removal, as the outcome of a release. `released` is absent if nothing was there but an earlier try
 * may have removed it: then nobody knows whether the tenure had ended before.
 */
export async function releaseUntilDone(
  clock: Clock,
  remove: () => Promise<Outcome<{ readonly existed: boolean }>>,
  worthwhile: () => boolean,
): Promise<Outcome<{ readonly released?: boolean }>> {
  let doubted = false;
  return await untilDone(
    clock,
    async (): Promise<Outcome<{ readonly released?: boolean }>> => {
      const removed = await remove();
      if (removed.kind === 'info') doubted = true;
      if (removed.kind !== 'ok') return removed;
      const { existed } = removed.value;
      return { kind: 'ok', value: existed || !doubted ? { released: existed } : {} };
    },
    worthwhile,
  );
}
