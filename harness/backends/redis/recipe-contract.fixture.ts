// What every recipe that polls must do, as one list of cases for any server: the fake in memory and the real ones. The
// flaws of the recipes that are wrong on purpose are tested elsewhere; where they would show, the list asks for less.

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { AcquireRequest, Grant, LockClient, Outcome, Recipe } from '../../contract/lock-client.ts';
import { millis, nanosOf, type Nanos } from '../../history/op.ts';

/** The TTL that the cases ask for; a tenth of it must be long against the time a command takes. */
export const CONTRACT_TTL = millis(500);

/** Where a case is played. */
export interface Arena {
  readonly first: LockClient;
  /** Of another process. */
  readonly second: LockClient;
  readonly now: () => Nanos;
  readonly elapse: (milliseconds: number) => Promise<void>;
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
const NOT_OWNER = { kind: 'fail', error: 'not-owner' };
const RELEASED = { kind: 'ok', value: { released: true } };
const TOO_LATE = { kind: 'ok', value: { released: false } };

/** A request for a lock that no other case uses, and more of them for the same lock. */
function requests(): () => AcquireRequest {
  const lock = randomUUID();
  return () => ({ lock, ttlMillis: CONTRACT_TTL, owner: randomUUID() });
}

/** The cases that apply to the recipe. */
export function contractCases(recipe: Omit<Recipe, 'open'>): readonly ContractCase[] {
  const right = recipe.flaw === undefined;
  const leased = recipe.sessionBound !== true;
  return [
    ...COMMON,
    ...(leased ? LEASED : [NO_LEASE]),
    ...(leased && recipe.ownerChecked ? [CHECKED_RELEASE] : []),
    ...(recipe.tokenSource === undefined ? [NO_TOKEN] : []),
    ...(recipe.tokenSource !== undefined && right ? [GROWING_TOKENS] : []),
    ...(recipe.renewAt === undefined ? [] : [RENEWAL]),
    ...(recipe.renewAt !== undefined && right ? [LATE_RENEWAL] : []),
    ...(leased && right ? [ABANDON] : []),
  ];
}

const COMMON: readonly ContractCase[] = [
  {
    name: 'tells the second client that it is busy, and grants it another lock',
    async run({ first, second }) {
      const request = requests();
      granted(await first.acquire(request()));
      expect(await second.acquire(request())).toMatchObject(BUSY);
      granted(await second.acquire(requests()()));
    },
  },
  {
    name: 'is free again after a release',
    async run({ first, second }) {
      const request = requests();
      const grant = granted(await first.acquire(request()));
      expect(await first.release(grant)).toMatchObject({ kind: 'ok' });
      granted(await second.acquire(request()));
    },
  },
];

const LEASED: readonly ContractCase[] = [
  {
    name: 'grants a free lock for one TTL at most, counted from before the request left',
    async run({ first, now }) {
      const before = now();
      const { validUntil } = granted(await first.acquire(requests()()));
      const after = now();
      // Redlock allows for clocks that drift apart.
      expect(validUntil).toBeGreaterThanOrEqual(before + 0.95 * nanosOf(CONTRACT_TTL));
      expect(validUntil).toBeLessThanOrEqual(after + nanosOf(CONTRACT_TTL));
    },
  },
  {
    name: 'is free again one TTL after its holder has gone silent, and not before',
    async run({ first, second, elapse }) {
      const request = requests();
      granted(await first.acquire(request()));
      await elapse(CONTRACT_TTL / 2);
      expect(await second.acquire(request())).toMatchObject(BUSY);
      await elapse(CONTRACT_TTL / 2 + 2);
      granted(await second.acquire(request()));
    },
  },
];

const NO_LEASE: ContractCase = {
  name: 'is kept while its holder is silent, and is not released twice',
  async run({ first, second, elapse }) {
    const request = requests();
    const grant = granted(await first.acquire(request()));
    expect(grant).not.toHaveProperty('validUntil');
    await elapse(2 * CONTRACT_TTL);
    expect(await second.acquire(request())).toMatchObject(BUSY);
    expect(await first.release(grant)).toEqual(RELEASED);
    expect(await first.release(grant)).toEqual(TOO_LATE);
  },
};

const ABANDON: ContractCase = {
  name: 'takes back an attempt whose outcome it does not know, and nothing else',
  async run({ first, second }) {
    const request = requests();
    const attempt = request();
    granted(await first.acquire(attempt));
    expect(await first.abandon(attempt)).toEqual(RELEASED);
    expect(await first.abandon(attempt)).toEqual(TOO_LATE);
    granted(await second.acquire(request()));
    expect(await first.abandon(attempt)).toEqual(TOO_LATE);
    expect(await first.acquire(request())).toMatchObject(BUSY);
  },
};

const CHECKED_RELEASE: ContractCase = {
  name: 'says that a release came too late, and leaves the next holder alone',
  async run({ first, second, elapse }) {
    const request = requests();
    const late = granted(await first.acquire(request()));
    await elapse(CONTRACT_TTL + 2);
    expect(await first.release(late)).toEqual(TOO_LATE);
    const next = granted(await second.acquire(request()));
    expect(await first.release(late)).toEqual(TOO_LATE);
    expect(await first.acquire(request())).toMatchObject(BUSY);
    expect(await second.release(next)).toEqual(RELEASED);
    expect(await second.release(next)).toEqual(TOO_LATE);
  },
};

const NO_TOKEN: ContractCase = {
  name: 'hands out no token',
  async run({ first }) {
    expect(granted(await first.acquire(requests()()))).not.toHaveProperty('token');
  },
};

const GROWING_TOKENS: ContractCase = {
  name: 'hands out tokens that grow from tenure to tenure, released or expired',
  async run({ first, second, elapse }) {
    const request = requests();
    const tokens: bigint[] = [];
    for (const client of [first, second, first, second]) {
      const grant = granted(await client.acquire(request()));
      tokens.push(grant.token ?? 0n);
      if (tokens.length === 3) await elapse(CONTRACT_TTL + 2);
      else await client.release(grant);
    }
    expect(tokens).toEqual([1n, 2n, 3n, 4n]);
  },
};

const RENEWAL: ContractCase = {
  name: 'holds on while it is renewed',
  async run({ first, second, now, elapse }) {
    const request = requests();
    const grant = granted(await first.acquire(request()));
    for (let third = 0; third < 5; third++) {
      await elapse(CONTRACT_TTL / 3);
      const before = now();
      const renewed = await first.renew?.(grant);
      if (renewed?.kind !== 'ok') throw new Error(`not renewed: ${JSON.stringify(renewed)}`);
      expect(renewed.value.validUntil).toBeGreaterThanOrEqual(before + nanosOf(CONTRACT_TTL));
    }
    expect(await second.acquire(request())).toMatchObject(BUSY);
    await elapse(CONTRACT_TTL + 2);
    granted(await second.acquire(request()));
  },
};

const LATE_RENEWAL: ContractCase = {
  name: 'is told that it is not the owner any more, and does not extend the next one',
  async run({ first, second, elapse }) {
    const request = requests();
    const late = granted(await first.acquire(request()));
    await elapse(CONTRACT_TTL + 2);
    expect(await first.renew?.(late)).toEqual(NOT_OWNER);
    const next = granted(await second.acquire(request()));
    await elapse(CONTRACT_TTL / 2);
    expect(await first.renew?.(late)).toEqual(NOT_OWNER);
    await elapse(CONTRACT_TTL / 2 + 2);
    expect(await second.release(next)).toEqual(TOO_LATE);
  },
};
