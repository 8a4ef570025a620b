// What every recipe of every lock service must do, as one list of cases: for servers in memory, whose time the test
// moves, and for real ones. Times are bounds where a service ends a lease when it finds the time. The flaws of recipes
// that are wrong on purpose are tested elsewhere; where they would show, the list asks for less.

import { expect } from 'vitest';
import { millis, nanosOf } from '../history/op.ts';
import {
  acquireOnceFree,
  acquireOnceOver,
  acquireWithin,
  BRIEF,
  BUSY,
  DRIFT,
  expectReleased,
  granted,
  POLL_MILLIS,
  releasedOf,
  releaseOnceHealed,
  requests,
  watchesItsDeadline,
  type Arena,
  type ContractCase,
  type ContractRecipe,
} from './arena.fixture.ts';
import type { ContractClient } from '../testing/service-stage.ts';
import { casesOfKind } from './kinds.fixture.ts';

const NOT_OWNER = { kind: 'fail', error: 'not-owner' };
/** The cases that apply to the recipe; `network`: its clients can be cut off one by one. */
export function contractCases(
  recipe: ContractRecipe,
  { network }: { readonly network: boolean },
): readonly ContractCase[] {
  const right = recipe.flaw === undefined;
  const leased = recipe.sessionBound !== true;
  // Nobody but its network can stop a library that keeps a grant by itself.
  const canFallSilent = leased && (network || recipe.keepsAlive !== true);
  const renews = recipe.renewAt !== undefined;
  // What else a second client is told depends on there being one permit.
  if (recipe.kind === 'semaphore') return [FREE_AFTER_RELEASE, LEASE, NO_TOKEN, ...casesOfKind(recipe)];
  return [
    BUSY_WHILE_HELD,
    FREE_AFTER_RELEASE,
    leased ? LEASE : NO_LEASE,
    ...casesOfKind(recipe),
    ...(recipe.ownerChecked ? [RELEASE_TWICE] : []),
    ...(renews || recipe.keepsAlive === true || !leased ? [KEPT] : []),
    ...(canFallSilent ? [SILENCE] : []),
    ...(canFallSilent && renews && right ? [LATE_RENEWAL] : []),
    ...(recipe.polls ? [] : [WAITS]),
    ...(recipe.tokenSource === undefined ? [NO_TOKEN] : []),
    ...(recipe.tokenSource !== undefined && right ? [GROWING_TOKENS] : []),
    ...(right ? [CONTENTION] : []),
    ...(leased && right ? [ABANDON] : []),
    ...(network && right ? [LOST_REPLY, CUT_OFF] : []),
  ];
}

const BUSY_WHILE_HELD: ContractCase = {
  name: 'tells the second client that it is busy, within its patience, and grants it another lock',
  async run(arena) {
    const { first, second, recipe, now, stallMillis } = arena;
    const request = requests();
    granted(await first.locks.acquire(request()));
    const before = now();
    expect(await second.locks.acquire(request(millis(300)))).toMatchObject(BUSY);
    const tookMillis = (now() - before) / 1e6;
    if (!recipe.polls) expect(tookMillis).toBeGreaterThan(290);
    expect(tookMillis).toBeLessThan(1_300 + stallMillis);
    granted(await second.locks.acquire(requests()()));
  },
};

const FREE_AFTER_RELEASE: ContractCase = {
  name: 'is free again after a release',
  async run(arena) {
    const { first, second } = arena;
    const request = requests();
    const grant = granted(await first.locks.acquire(request()));
    expect(await first.locks.release(grant)).toMatchObject({ kind: 'ok' });
    granted(await second.locks.acquire(request()));
  },
};

const RELEASE_TWICE: ContractCase = {
  name: 'says whose lock a release ended; a second one says that it came too late, and leaves the next holder alone',
  async run(arena) {
    const { first, second } = arena;
    const request = requests();
    const grant = granted(await first.locks.acquire(request()));
    expectReleased(arena, await first.locks.release(grant), true);
    const next = granted(await second.locks.acquire(request()));
    expectReleased(arena, await first.locks.release(grant), false);
    expect(await first.locks.acquire(request(BRIEF))).toMatchObject(BUSY);
    expectReleased(arena, await second.locks.release(next), true);
  },
};

const LEASE: ContractCase = {
  name: 'grants a free lock for one TTL at most, counted from before the request left',
  async run(arena) {
    const { first, now } = arena;
    const before = now();
    const { validUntil, request } = granted(await first.locks.acquire(requests()()));
    expect(validUntil).toBeGreaterThanOrEqual(before + (1 - DRIFT) * nanosOf(request.ttlMillis));
    expect(validUntil).toBeLessThanOrEqual(now() + nanosOf(request.ttlMillis));
  },
};

const NO_LEASE: ContractCase = {
  name: 'promises no end of its grant',
  async run(arena) {
    expect(granted(await arena.first.locks.acquire(requests()()))).not.toHaveProperty('validUntil');
  },
};

const KEPT: ContractCase = {
  name: 'holds on for as long as it is kept',
  async run(arena) {
    for (;;) {
      using lateness = arena.lateness();
      try {
        return await keep(arena);
      } catch (error) {
        // Who stands still for longer than a renewal may be late keeps nothing, and begins anew.
        if (lateness.latestMillis < arena.ttlMillis / 3) throw error;
      }
    }
  },
};

async function keep({ first, second, recipe, now, elapse, ttlMillis }: Arena): Promise<void> {
  const request = requests();
  const grant = granted(await first.locks.acquire({ ...request(), ttlMillis }));
  for (let third = 0; third < 7; third++) {
    await elapse(ttlMillis / 3);
    if (recipe.renewAt === undefined) continue;
    const before = now();
    const renewed = await first.locks.renew?.(grant);
    if (renewed?.kind !== 'ok') throw new Error(`not renewed: ${JSON.stringify(renewed)}`);
    expect(renewed.value.validUntil).toBeGreaterThanOrEqual(before + nanosOf(ttlMillis));
  }
  expect(await second.locks.acquire(request(BRIEF))).toMatchObject(BUSY);
  expect(first.losses.has(grant.request.owner)).toBe(false);
  expect(releasedOf(await first.locks.release(grant))).not.toBe(false);
}

const SILENCE: ContractCase = {
  name: 'is free again one TTL after its holder fell silent, and not before; a late release leaves the next holder alone',
  async run(arena) {
    const { first, second, recipe, ttlMillis, elapse, now } = arena;
    using lateness = arena.lateness();
    const request = requests();
    const asked = now();
    const late = granted(await first.locks.acquire({ ...request(), ttlMillis }));
    // Nobody renews it, unless its library does.
    if (recipe.keepsAlive === true) first.network?.cut();
    // Its library's last renewal may be a third of the TTL old.
    await elapse(ttlMillis * 0.4);
    const next = await acquireOnceOver(arena, request, asked);
    const grantedAt = now();
    if (recipe.flaw === undefined && recipe.tokenSource !== undefined)
      expect(next.token ?? 0n).toBeGreaterThan(late.token ?? 0n);
    if (watchesItsDeadline(recipe)) {
      // What was due while this process stood still happens by then.
      await elapse(POLL_MILLIS);
      const toldAt = first.losses.get(late.request.owner);
      expect(toldAt).toBeLessThan(grantedAt + lateness.latestMillis * 1e6);
    }
    if (recipe.flaw !== undefined) return;
    first.network?.heal();
    expect([false, undefined]).toContain(releasedOf(await releaseOnceHealed(arena, late)));
    expect(await first.locks.acquire(request(BRIEF))).toMatchObject(BUSY);
    expect(releasedOf(await second.locks.release(next))).not.toBe(false);
  },
};

const LATE_RENEWAL: ContractCase = {
  name: 'is told that it is not the owner any more when it renews too late, and does not extend the next one',
  async run(arena) {
    const { first, second, ttlMillis, lateMillis, elapse } = arena;
    const request = requests();
    const brief = () => ({ ...request(), ttlMillis });
    const late = granted(await first.locks.acquire(brief()));
    await elapse(ttlMillis / 2);
    const next = await acquireOnceFree(arena, brief);
    await elapse(ttlMillis / 2);
    expect(await first.locks.renew?.(late)).toEqual(NOT_OWNER);
    await elapse(ttlMillis / 2 + 2);
    await acquireWithin(arena, first, { request, limitMillis: lateMillis });
    expect([false, undefined]).toContain(releasedOf(await second.locks.release(next)));
  },
};

const WAITS: ContractCase = {
  name: 'waits in the service, and is granted the lock when the holder lets go',
  async run(arena) {
    const { first, second, now, elapse, stallMillis } = arena;
    const request = requests();
    const grant = granted(await first.locks.acquire(request()));
    const waiting = second.locks.acquire(request(millis(20_000)));
    await elapse(500);
    const before = now();
    await first.locks.release(grant);
    const next = granted(await waiting);
    expect((now() - before) / 1e6).toBeLessThan(600 + stallMillis);
    expect(next.token ?? 0n).toBeGreaterThan(grant.token ?? 0n);
  },
};

const NO_TOKEN: ContractCase = {
  name: 'hands out no token',
  async run(arena) {
    expect(granted(await arena.first.locks.acquire(requests()()))).not.toHaveProperty('token');
  },
};

const GROWING_TOKENS: ContractCase = {
  name: 'hands out tokens that grow from tenure to tenure',
  async run(arena) {
    const { first, second } = arena;
    const request = requests();
    let highest = 0n;
    for (const client of [first, second, first, second, second]) {
      const grant = granted(await client.locks.acquire(request()));
      expect(grant.token).toBeGreaterThan(highest);
      highest = grant.token ?? 0n;
      await client.locks.release(grant);
    }
  },
};

const CONTENTION: ContractCase = {
  name: 'is never held by two clients that contend for it',
  async run(arena) {
    const { first, second, elapse } = arena;
    const request = requests();
    let holder: ContractClient | undefined;
    const contend = async (client: ContractClient): Promise<void> => {
      for (let round = 0; round < 8; round++) {
        const grant = await acquireWithin(arena, client, { request, limitMillis: 20_000 });
        expect(holder).toBeUndefined();
        holder = client;
        await elapse(3);
        holder = undefined;
        expect(await client.locks.release(grant)).toMatchObject({ kind: 'ok' });
        // Who polls must give the other one a chance.
        await elapse(POLL_MILLIS / 2);
      }
    };
    await Promise.all([contend(first), contend(second)]);
  },
};

const ABANDON: ContractCase = {
  name: 'takes back an attempt whose outcome it does not know, and nothing else',
  async run(arena) {
    const { first, second } = arena;
    const request = requests();
    const attempt = request();
    granted(await first.locks.acquire(attempt));
    const abandoned = await first.locks.abandon(attempt);
    expect(abandoned).toMatchObject({ kind: 'ok' });
    expect(releasedOf(abandoned)).not.toBe(false);
    granted(await second.locks.acquire(request()));
    const again = await first.locks.abandon(attempt);
    expect(again).toMatchObject({ kind: 'ok' });
    expect(releasedOf(again)).not.toBe(true);
    expect(await first.locks.acquire(request(BRIEF))).toMatchObject(BUSY);
  },
};

const LOST_REPLY: ContractCase = {
  name: 'does not call an attempt failed that may have left something behind, and takes that back',
  silent: true,
  async run(arena) {
    const { first, ttlMillis } = arena;
    const request = requests();
    // Opens the connections that are then hurt.
    await acquireWithin(arena, first, { request: requests(), limitMillis: 0 });
    const attempt = { ...request(millis(1_500)), ttlMillis };
    const asked = first.locks.acquire(attempt);
    // The request is on its way, and its replies are not.
    first.network?.deafen();
    const outcome = await asked;
    first.network?.heal();
    if (outcome.kind === 'ok') await first.locks.release(outcome.value);
    if (outcome.kind === 'info') await first.locks.abandon(attempt);
    await acquireOnceFree(arena, request);
  },
};

const CUT_OFF: ContractCase = {
  name: 'gives an answer in time that is no grant when no server answers, and is granted the lock afterwards',
  silent: true,
  async run(arena) {
    const { first, now, timeLimitMillis, ttlMillis, lateMillis, stallMillis } = arena;
    const request = requests();
    await acquireWithin(arena, first, { request: requests(), limitMillis: 0 });
    const attempt = { ...request(timeLimitMillis), ttlMillis };
    first.network?.cut();
    const before = now();
    expect((await first.locks.acquire(attempt)).kind).not.toBe('ok');
    expect((now() - before) / 1e6).toBeLessThan(4 * timeLimitMillis + ttlMillis + lateMillis + stallMillis);
    first.network?.heal();
    await first.locks.abandon(attempt);
    const limitMillis = 10_000;
    await acquireWithin(arena, first, { request, limitMillis });
  },
};
