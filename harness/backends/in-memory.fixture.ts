// Clients of a lock service in memory whose acquires wait: what came of one so far, and an arena for the contract, in
// which time passes while somebody waits.

import { settled, type FakeClock } from '../client/fakes.fixture.ts';
import type { Acquired, Grant, LockClient, Recipe, RecipeContext } from '../contract/lock-client.ts';
import { millis, type Nanos } from '../history/op.ts';
import { granted, NEVER_LATE, type Arena } from './arena.fixture.ts';

type Locks = Omit<LockClient, keyof AsyncDisposable>;

/** What came of it, or `waiting` if nothing has so far. */
export async function stateOf(attempt: Promise<Acquired>): Promise<Acquired | 'waiting'> {
  return await Promise.race([attempt, settled().then(() => 'waiting' as const)]);
}

/** The grant, or the test fails: no time passes. */
export async function grantedNow(attempt: Promise<Acquired>): Promise<Grant> {
  const outcome = await stateOf(attempt);
  if (outcome === 'waiting') throw new Error('not granted yet');
  return granted(outcome);
}

/** `open`: a client of its own process. */
export function arenaInMemory(
  recipe: Omit<Recipe, 'open'>,
  clock: FakeClock,
  open: (onLost: RecipeContext['onLost']) => Locks,
): Arena {
  // One at a time: a clock that two move at once would go back.
  let moved = Promise.resolve();
  const elapse = (milliseconds: number): Promise<void> => {
    moved = moved.then(() => clock.elapse(milliseconds));
    return moved;
  };
  const answered = async <T>(answer: Promise<T>): Promise<T> => {
    for (;;) {
      const seen = await Promise.race([answer.then((value) => ({ value })), settled()]);
      if (seen !== undefined) return seen.value;
      await elapse(STEP_MILLIS);
    }
  };
  const client = () => {
    const losses = new Map<string, Nanos>();
    const { renew, ...locks } = open(({ owner }) => losses.set(owner, clock.now()));
    return {
      losses,
      locks: {
        ...(renew !== undefined && { renew: (grant: Grant) => answered(renew(grant)) }),
        acquire: (request) => answered(locks.acquire(request)),
        release: (grant) => answered(locks.release(grant)),
        abandon: (request) => answered(locks.abandon(request)),
        [Symbol.asyncDispose]: async () => {},
      } satisfies LockClient,
    };
  };
  return {
    recipe,
    first: client(),
    second: client(),
    now: () => clock.now(),
    elapse,
    ttlMillis: millis(1_000),
    lateMillis: millis(2),
    timeLimitMillis: millis(500),
    stallMillis: millis(0),
    lateness: () => NEVER_LATE,
  };
}

const STEP_MILLIS = 5;
