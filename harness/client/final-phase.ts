// What one process does after the load has stopped and every fault is healed: show that each lock can be had again,
// and read every register with the store's own record. Everything is recorded as ordinary operations.

import type { Clock } from '../clock.ts';
import { nanosOf, type Millis } from '../history/op.ts';
import type { Recorder } from './recorder.ts';
import type { ClientSession } from './session.ts';

/** Keeps a history line below some 100 KB. */
const AUDIT_ROWS_PER_READ = 500;

/** Tries each lock, all at once, until it was granted (and then released) or the time is up. */
export async function tryEach(
  session: ClientSession,
  clock: Clock,
  locks: readonly string[],
  timeLimit: Millis,
): Promise<void> {
  const deadline = clock.now() + nanosOf(timeLimit);
  await Promise.all(
    locks.map(async (lock) => {
      const held = await session.acquireUnless(lock, () => clock.now() >= deadline);
      if (held !== undefined) await session.release(held);
    }),
  );
}

/** Reads each key through each defence, without a token, and its audit rows. Returns what went wrong, if anything. */
export async function readAll(
  recorder: Recorder,
  defences: readonly string[],
  keys: readonly string[],
): Promise<string | undefined> {
  for (const defence of defences)
    for (const key of keys) {
      let after = '0';
      for (;;) {
        const page = await recorder.readAudit(
          { defence, key, lock: key },
          { after, limit: AUDIT_ROWS_PER_READ },
        );
        if (page.kind !== 'ok') return `final read of ${key} in ${defence}: ${page.error}`;
        const last = page.value.at(-1);
        if (last === undefined || page.value.length < AUDIT_ROWS_PER_READ) break;
        after = last.seq;
      }
    }
  return undefined;
}
