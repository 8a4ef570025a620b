// What recipes must do that make another kind of lock than one that a single holder has alone; part of the contract. Of
// those that are wrong on purpose the list asks only for what they do right.

import { expect } from 'vitest';
import type { AcquireRequest, LockClient } from '../contract/lock-client.ts';
import {
  acquireOnceOver,
  BRIEF,
  BUSY,
  granted,
  releasedOf,
  requests,
  type ContractCase,
  type ContractRecipe,
} from './arena.fixture.ts';
import type { Millis } from '../history/op.ts';

/** The cases of the recipe's kind of lock. */
export function casesOfKind({ kind, flaw, keepsAlive }: ContractRecipe): readonly ContractCase[] {
  const right = flaw === undefined;
  const cases = {
    mutex: [],
    semaphore: [PERMITS, ...(right ? [AS_TOLD] : []), ...(keepsAlive === true ? [] : [PERMITS_EXPIRE])],
    'read-write': [SHARED, ...(right ? [ALONE] : [])],
    reentrant: [REENTRY, ...(right ? [AS_OFTEN] : [])],
  };
  return cases[kind ?? 'mutex'];
}

const PERMITS: ContractCase = {
  name: 'gives out so many permits and no more, to whoever asks; one that was given back can be had, once',
  async run(arena) {
    const { first, second, recipe } = arena;
    const request = requests();
    const taken = [];
    for (let permit = 0; permit < (recipe.permits ?? 0); permit++)
      taken.push(granted(await (permit % 2 === 0 ? first : second).locks.acquire(request())));
    for (const { locks } of [first, second]) expect(await locks.acquire(request(BRIEF))).toMatchObject(BUSY);
    const [given] = taken;
    if (given === undefined) throw new Error('a semaphore without permits');
    expect(releasedOf(await first.locks.release(given))).toBe(true);
    granted(await second.locks.acquire(request()));
    expect(releasedOf(await first.locks.release(given))).toBe(false);
    expect(await first.locks.acquire(request(BRIEF))).toMatchObject(BUSY);
  },
};

const AS_TOLD: ContractCase = {
  name: 'gives out as many permits as the request says',
  async run(arena) {
    const { first, second } = arena;
    const request = requests();
    const oneOf = (permits: number, patience?: Millis): AcquireRequest => ({ ...request(patience), permits });
    const grant = granted(await first.locks.acquire(oneOf(1)));
    expect(await second.locks.acquire(oneOf(1, BRIEF))).toMatchObject(BUSY);
    expect(releasedOf(await first.locks.release(grant))).toBe(true);
    for (const { locks } of [first, second, first]) granted(await locks.acquire(oneOf(3)));
    expect(await second.locks.acquire(oneOf(3, BRIEF))).toMatchObject(BUSY);
  },
};

const PERMITS_EXPIRE: ContractCase = {
  name: 'has a permit again one TTL after its holder fell silent, and not before; a late release frees nobody',
  async run(arena) {
    const { first, second, recipe, ttlMillis, elapse, now } = arena;
    const request = requests();
    const asked = now();
    const late = granted(await first.locks.acquire({ ...request(), ttlMillis }));
    await elapse(ttlMillis * 0.4);
    for (let permit = 1; permit < (recipe.permits ?? 0); permit++)
      granted(await second.locks.acquire(request()));
    await acquireOnceOver(arena, request, asked);
    expect(releasedOf(await first.locks.release(late))).toBe(false);
    expect(await first.locks.acquire(request(BRIEF))).toMatchObject(BUSY);
  },
};

const shared = (request: AcquireRequest): AcquireRequest => ({ ...request, shared: true });

const SHARED: ContractCase = {
  name: 'lets readers share it, and nobody write until the last one has let go',
  async run(arena) {
    const { first, second } = arena;
    const request = requests();
    const reads = [];
    for (const client of [first, second])
      reads.push({ client, grant: granted(await client.locks.acquire(shared(request()))) });
    for (const { client, grant } of reads) {
      expect(await second.locks.acquire(request(BRIEF))).toMatchObject(BUSY);
      expect(releasedOf(await client.locks.release(grant))).toBe(true);
    }
    granted(await second.locks.acquire(request()));
  },
};

const ALONE: ContractCase = {
  name: 'lets nobody read until the writer has let go',
  async run(arena) {
    const { first, second } = arena;
    const request = requests();
    const write = granted(await first.locks.acquire(request()));
    expect(await second.locks.acquire(shared(request(BRIEF)))).toMatchObject(BUSY);
    expect(releasedOf(await first.locks.release(write))).toBe(true);
    const read = granted(await second.locks.acquire(shared(request())));
    if (arena.recipe.tokenSource !== undefined) expect(read.token).toBeGreaterThan(write.token ?? 0n);
  },
};

/** Taken, and taken again in the name of the first attempt. */
async function takenTwice(locks: LockClient, request: () => AcquireRequest) {
  const outer = granted(await locks.acquire(request()));
  const inner = granted(await locks.acquire({ ...request(), owner: outer.request.owner }));
  return { outer, inner };
}

const REENTRY: ContractCase = {
  name: 'can be taken again by its holder, with the same token, and all of it be taken back',
  async run(arena) {
    const { first, second } = arena;
    const request = requests();
    const { outer, inner } = await takenTwice(first.locks, request);
    expect(inner.token).toBe(outer.token);
    expect(await second.locks.acquire(request(BRIEF))).toMatchObject(BUSY);
    expect(releasedOf(await first.locks.abandon(inner.request))).not.toBe(false);
    granted(await second.locks.acquire(request()));
  },
};

const AS_OFTEN: ContractCase = {
  name: 'is free when it was released as often as it was taken, and not before',
  async run(arena) {
    const { first, second } = arena;
    const request = requests();
    const { outer, inner } = await takenTwice(first.locks, request);
    expect(releasedOf(await first.locks.release(inner))).toBe(true);
    expect(await second.locks.acquire(request(BRIEF))).toMatchObject(BUSY);
    expect(releasedOf(await first.locks.release(outer))).toBe(true);
    granted(await second.locks.acquire(request()));
    expect(releasedOf(await first.locks.release(outer))).toBe(false);
  },
};
