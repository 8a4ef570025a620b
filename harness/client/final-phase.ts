// What one process does after the load has stopped and every fault is healed: show that each lock can be had again,
// and read every register with the store's own record. Everything is recorded as ordinary operations.

import type { Clock } from '../clock.ts';
import type { StoreClient } from '../contract/store.ts';
import { millis, nanosOf, type Millis } from '../history/op.ts';
import type { Recorder } from './recorder.ts';
import type { ClientSession } from './session.ts';

/** Keeps a history line below some 100 KB. */
const AUDIT_ROWS_PER_READ = 500;
/** A busy store is asked again: without its record a whole run could not be judged. */
const READ_ATTEMPTS = 10;
const READ_PAUSE = millis(200);

export interface Registers {
  /** The defences of the store. */
  readonly outside: readonly string[];
  /** That of a register inside the lock service, which cannot be sealed. */
  readonly beside: readonly string[];
  readonly keys: readonly string[];
}

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

/**
 * Seals the store, then reads each key through each defence, without a token, and its audit rows. Returns what went
 * wrong, if anything.
 */
export async function readAll(
  recorder: Recorder,
  store: Pick<StoreClient, 'seal'>,
  clock: Clock,
  { outside, beside, keys }: Registers,
): Promise<string | undefined> {
  const seal = await untilAnswered(clock, () => store.seal());
  if (seal.kind !== 'ok') return `sealing the store: ${seal.error}`;
  for (const defence of [...outside, ...beside])
    for (const key of keys) {
      let after = '0';
      for (;;) {
        const request = { after, limit: AUDIT_ROWS_PER_READ, sealed: outside.includes(defence) };
        const page = await untilAnswered(clock, () =>
          recorder.readAudit({ defence, key, lock: key }, request),
        );
        if (page.kind !== 'ok') return `final read of ${key} in ${defence}: ${page.error}`;
        const last = page.value.at(-1);
        if (last === undefined || page.value.length < AUDIT_ROWS_PER_READ) break;
        after = last.seq;
      }
    }
  return undefined;
}

/** The first answer that is `ok`, or the last one there was. */
async function untilAnswered<Answer extends { readonly kind: string }>(
  clock: Clock,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  let answer = await ask();
  for (let attempt = 1; answer.kind !== 'ok' && attempt < READ_ATTEMPTS; attempt++) {
    await clock.sleep(READ_PAUSE);
    answer = await ask();
  }
  return answer;
}
