// What every recipe of a replicated lock service must do, as one list of cases for real clusters. A client is cut off
// by its own network alone, so that cases can be played side by side. Times are bounds, not exact: a lease of such a
// service ends when its leader finds the time. The flaws of recipes that are wrong on purpose are tested elsewhere.

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { AcquireRequest, Grant, LockClient, Outcome, Recipe } from '../contract/lock-client.ts';
import { millis, nanosOf, type Millis, type Nanos } from '../history/op.ts';

/** A client of the service, and its network. */
export interface ContractClient {
  readonly locks: LockClient;
  /** Of every grant that its library said was lost: the owner and when. */
  readonly losses: ReadonlyMap<string, Nanos>;
  /** From now on nothing passes between it and any server, and nobody says so. */
  cut(): void;
  /** Requests arrive, replies do not. */
  deafen(): void;
  heal(): void;
}

/** Where a case is played. */
export interface Arena {
  readonly recipe: Omit<Recipe, 'open'>;
  readonly first: ContractClient;
  readonly second: ContractClient;
  readonly now: () => Nanos;
  readonly ttlMillis: Millis;
  /** How much later than the TTL the service may end a lease. */
  readonly lateMillis: Millis;
}

export interface ContractCase {
  readonly name: string;
  readonly run: (arena: Arena) => Promise<void>;
}

/** The grant, or the test fails. */
export function granted(outcome: Outcome<Grant>): Grant {
  if (outcome.kind !== 'ok') throw new Error(`not granted: ${JSON.stringify(outcome)}`);
  return outcome.value;
}

const BUSY = { kind: 'fail', error: 'busy' };
const OK = { kind: 'ok' };
/** A machine with two processors and much to do. */
const PATIENCE = millis(1_500);

/** Requests for a lock that no other case uses. */
function requests({ ttlMillis }: Arena): (patience?: Millis) => AcquireRequest {
  const lock = randomUUID();
  return (patienceMillis = PATIENCE) => ({ lock, ttlMillis, owner: randomUUID(), patienceMillis });
}

/** Keeps a grant of a recipe that leaves renewing to its caller. */
function keepRenewing({ locks }: ContractClient, grant: Grant): Disposable {
  const pace = grant.request.ttlMillis / 3;
  const timer = setInterval(() => void locks.renew?.(grant), pace);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

async function acquireWithin(
  client: ContractClient,
  request: () => AcquireRequest,
  limit: number,
): Promise<Grant> {
  const deadline = performance.now() + limit;
  for (;;) {
    const attempt = request();
    const outcome = await client.locks.acquire(attempt);
    if (outcome.kind === 'ok' || performance.now() > deadline) return granted(outcome);
    if (outcome.kind === 'info') await client.locks.abandon(attempt);
    await delay(20);
  }
}

/** Those that apply to the recipe. */
export function contractCases(recipe: Omit<Recipe, 'open'>): readonly ContractCase[] {
  return [
    ...COMMON,
    ...(recipe.polls ? [] : [WAITS]),
    ...(recipe.tokenSource === undefined ? [NO_TOKEN] : [GROWING_TOKENS]),
    ...(recipe.flaw === undefined ? [LOST_REPLY] : []),
    ...(recipe.renewAt === undefined ? [] : [LATE_RENEWAL]),
  ];
}

const COMMON: readonly ContractCase[] = [
  {
    name: 'grants a free lock for one TTL, counted from before the request left',
    async run(arena) {
      const { first, now, ttlMillis } = arena;
      const before = now();
      const { validUntil } = granted(await first.locks.acquire(requests(arena)()));
      expect(validUntil).toBeGreaterThanOrEqual(before + nanosOf(ttlMillis));
      expect(validUntil).toBeLessThanOrEqual(now() + nanosOf(ttlMillis));
    },
  },
  {
    name: 'tells the second client that it is busy, within its patience, and grants it another lock',
    async run(arena) {
      const { first, second, recipe } = arena;
      const request = requests(arena);
      const grant = granted(await first.locks.acquire(request()));
      using _kept = keepRenewing(first, grant);
      const before = performance.now();
      expect(await second.locks.acquire(request(millis(400)))).toEqual(BUSY);
      const took = performance.now() - before;
      if (!recipe.polls) expect(took).toBeGreaterThan(390);
      expect(took).toBeLessThan(1_400);
      granted(await second.locks.acquire(requests(arena)()));
    },
  },
  {
    name: 'is free again after a release, and a second release does no harm',
    async run(arena) {
      const { first, second } = arena;
      const request = requests(arena);
      const grant = granted(await first.locks.acquire(request()));
      const released = await first.locks.release(grant);
      expect(released).toMatchObject(OK);
      expect([true, undefined]).toContain(releasedOf(released));
      const next = await acquireWithin(second, request, 1_000);
      using _kept = keepRenewing(second, next);
      const again = await first.locks.release(grant);
      expect(again).toMatchObject(OK);
      expect([false, undefined]).toContain(releasedOf(again));
      expect(await first.locks.acquire(request(millis(200)))).toEqual(BUSY);
      expect(releasedOf(await second.locks.release(next))).not.toBe(false);
    },
  },
  {
    name: 'holds on for as long as it is kept alive',
    async run(arena) {
      const { first, second, ttlMillis } = arena;
      const request = requests(arena);
      const grant = granted(await first.locks.acquire(request()));
      using _kept = keepRenewing(first, grant);
      await delay(ttlMillis * 2.5);
      expect(await second.locks.acquire(request(millis(100)))).toEqual(BUSY);
      expect(first.losses.has(grant.request.owner)).toBe(false);
      expect(releasedOf(await first.locks.release(grant))).not.toBe(false);
    },
  },
  {
    name: 'is free again one TTL after its holder fell silent, and a late release leaves the next holder alone',
    async run(arena) {
      const { first, second, now, ttlMillis, lateMillis, recipe } = arena;
      const request = requests(arena);
      const late = granted(await first.locks.acquire(request()));
      first.cut();
      const cutAt = now();
      const next = await acquireWithin(second, request, ttlMillis + lateMillis + 1_500);
      const grantedAt = now();
      using _kept = keepRenewing(second, next);
      // Not before: its last renewal may be a third of the TTL old, and a session's heartbeat as well.
      expect(grantedAt - cutAt).toBeGreaterThan(nanosOf(millis(ttlMillis * 0.5)));
      if (recipe.tokenSource !== undefined) expect(next.token ?? 0n).toBeGreaterThan(late.token ?? 0n);
      if (watchesItsDeadline(recipe)) expect(first.losses.get(late.request.owner)).toBeLessThan(grantedAt);
      first.heal();
      const released = await releaseWhenHealed(first, late);
      expect([false, undefined]).toContain(releasedOf(released));
      expect(await first.locks.acquire(request(millis(200)))).toEqual(BUSY);
      expect(releasedOf(await second.locks.release(next))).not.toBe(false);
    },
  },
  {
    name: 'takes back an attempt whose outcome it does not know, and nothing else',
    async run(arena) {
      const { first, second } = arena;
      const request = requests(arena);
      const attempt = request();
      const grant = granted(await first.locks.acquire(attempt));
      if (arena.recipe.name === 'zk-no-guid') await first.locks.release(grant);
      expect(await first.locks.abandon(attempt)).toMatchObject(OK);
      const next = await acquireWithin(second, request, 1_000);
      using _kept = keepRenewing(second, next);
      expect(await first.locks.abandon(attempt)).toMatchObject(OK);
      expect(await first.locks.acquire(request(millis(200)))).toEqual(BUSY);
    },
  },
  {
    name: 'is never held by two clients that contend for it',
    async run(arena) {
      const { first, second } = arena;
      const request = requests(arena);
      let holder: ContractClient | undefined;
      const contend = async (client: ContractClient): Promise<void> => {
        for (let round = 0; round < 8; round++) {
          const grant = await acquireWithin(client, request, 8_000);
          expect(holder).toBeUndefined();
          holder = client;
          await delay(3);
          holder = undefined;
          expect(await client.locks.release(grant)).toMatchObject(OK);
        }
      };
      await Promise.all([contend(first), contend(second)]);
    },
  },
];

const WAITS: ContractCase = {
  name: 'waits in the service, and is granted the lock when the holder lets go',
  async run(arena) {
    const { first, second } = arena;
    const request = requests(arena);
    const grant = granted(await first.locks.acquire(request()));
    using _kept = keepRenewing(first, grant);
    const waiting = second.locks.acquire(request(millis(5_000)));
    await delay(500);
    const before = performance.now();
    await first.locks.release(grant);
    const next = granted(await waiting);
    expect(performance.now() - before).toBeLessThan(600);
    expect(next.token ?? 0n).toBeGreaterThan(grant.token ?? 0n);
  },
};

const NO_TOKEN: ContractCase = {
  name: 'hands out no token',
  async run(arena) {
    expect(granted(await arena.first.locks.acquire(requests(arena)()))).not.toHaveProperty('token');
  },
};

const GROWING_TOKENS: ContractCase = {
  name: 'hands out tokens that grow from tenure to tenure',
  async run(arena) {
    const { first, second } = arena;
    const request = requests(arena);
    const tokens: bigint[] = [];
    for (const client of [first, second, first, second, second]) {
      const grant = await acquireWithin(client, request, 2_000);
      tokens.push(grant.token ?? 0n);
      await client.locks.release(grant);
    }
    expect(tokens).toEqual(tokens.toSorted((a, b) => Number(a - b)));
    expect(new Set(tokens).size).toBe(tokens.length);
  },
};

const LOST_REPLY: ContractCase = {
  name: 'does not call an attempt failed that may have left something behind, and takes that back',
  async run(arena) {
    const { first, second, ttlMillis, lateMillis } = arena;
    const request = requests(arena);
    granted(await first.locks.acquire(requests(arena)()));
    const attempt = request();
    const asked = first.locks.acquire(attempt);
    // The request is on its way, and its replies are not.
    first.deafen();
    const outcome = await asked;
    first.heal();
    if (outcome.kind === 'ok') await first.locks.release(outcome.value);
    if (outcome.kind === 'info') await first.locks.abandon(attempt);
    const next = await acquireWithin(second, request, ttlMillis + lateMillis + 1_500);
    await second.locks.release(next);
  },
};

const LATE_RENEWAL: ContractCase = {
  name: 'is told that it is not the owner any more when it renews too late',
  async run(arena) {
    const { first, second, ttlMillis, lateMillis } = arena;
    const request = requests(arena);
    const late = granted(await first.locks.acquire(request()));
    first.cut();
    const next = await acquireWithin(second, request, ttlMillis + lateMillis + 1_500);
    using _kept = keepRenewing(second, next);
    first.heal();
    // The first attempts may find the old connections, which have not noticed yet.
    let renewed = await renew(first, late);
    for (let tries = 0; renewed.kind === 'info' && tries < 10; tries++) {
      await delay(100);
      renewed = await renew(first, late);
    }
    expect(renewed).toEqual({ kind: 'fail', error: 'not-owner' });
    expect(await first.locks.acquire(request(millis(200)))).toEqual(BUSY);
  },
};

function releasedOf(outcome: Outcome<{ readonly released?: boolean }>): boolean | undefined {
  return outcome.kind === 'ok' ? outcome.value.released : undefined;
}

async function releaseWhenHealed(
  { locks }: ContractClient,
  grant: Grant,
): Promise<Outcome<{ readonly released?: boolean }>> {
  for (let tries = 0; ; tries++) {
    const outcome = await locks.release(grant);
    if (outcome.kind === 'ok' || tries === 10) return outcome;
    await delay(100);
  }
}

/** It ends its belief itself, before the service can end the lease. */
function watchesItsDeadline({ flaw, name }: Omit<Recipe, 'open'>): boolean {
  return (flaw === undefined || name === 'zk-no-guid') && name !== 'etcd3-lock';
}

async function renew({ locks }: ContractClient, grant: Grant): Promise<Outcome<unknown>> {
  return (await locks.renew?.(grant)) ?? { kind: 'fail', error: 'unsupported' };
}
