// Where the cases of the contract are played: two clients of one service, a clock, and what cases have in common when
// they ask for a lock and give it back.

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { AcquireRequest, Grant, Outcome, Recipe } from '../contract/lock-client.ts';
import { millis, nanosOf, type Millis, type Nanos } from '../history/op.ts';
import type { Lateness } from '../testing/lateness.fixture.ts';
import type { ContractClient } from '../testing/service-stage.ts';

export interface ContractCase {
  readonly name: string;
  /** Servers fall silent, so its clients wait for them for the time limit, and no longer. */
  readonly silent?: true;
  readonly run: (arena: Arena) => Promise<void>;
}

/** Where a case is played. */
export interface Arena {
  readonly recipe: ContractRecipe;
  readonly first: ContractClient;
  /** Of another process. */
  readonly second: ContractClient;
  readonly now: () => Nanos;
  readonly elapse: (milliseconds: number) => Promise<void>;
  /** Of the leases that are to run out, or that are kept; a tenth of it must be long against the time a command takes. */
  readonly ttlMillis: Millis;
  /** How much later than the TTL the service may end a lease. */
  readonly lateMillis: Millis;
  /** How long a client waits for a server where that falls silent. */
  readonly timeLimitMillis: Millis;
  /** For how long the machine may stand still without anybody being to blame. */
  readonly stallMillis: Millis;
  /** Watches for how long this process did. */
  readonly lateness: () => Lateness;
}

/** Of a process whose time the test moves. */
export const NEVER_LATE: Lateness = { latestMillis: 0, [Symbol.dispose]: () => undefined };

export type ContractRecipe = Omit<Recipe, 'open'>;

/** The grant, or the test fails. */
export function granted(outcome: Outcome<Grant>): Grant {
  if (outcome.kind !== 'ok') throw new Error(`not granted: ${JSON.stringify(outcome)}`);
  return outcome.value;
}

/** Of an attempt that ought to succeed, on a busy machine. */
const PATIENCE = millis(10_000);
/** Of a lease whose end is not looked at. */
export const AMPLE_TTL = millis(60_000);
/** Redlock allows for clocks that drift apart. */
export const DRIFT = 0.05;
export const POLL_MILLIS = 20;
/** Patience of an attempt that ought not to succeed. */
export const BRIEF = millis(50);
export const BUSY = { kind: 'fail', error: 'busy' };

type Requests = (patienceMillis?: Millis) => AcquireRequest;

/** Requests for a lock that no other case uses, with leases that do not run out. */
export function requests(): Requests {
  const lock = randomUUID();
  return (patienceMillis = PATIENCE) => ({ lock, ttlMillis: AMPLE_TTL, owner: randomUUID(), patienceMillis });
}

/** By the second client, when the lease of a first one has run out that was granted within the last TTL. */
export function acquireOnceFree(arena: Arena, request: Requests): Promise<Grant> {
  const limitMillis = arena.ttlMillis + arena.lateMillis;
  return acquireWithin(arena, arena.second, { request, limitMillis });
}

/** The same, and not before one TTL after the first one `asked`. Until then it is told that the lock is busy. */
export async function acquireOnceOver(arena: Arena, request: Requests, asked: Nanos): Promise<Grant> {
  const early = await arena.second.locks.acquire(request(BRIEF));
  // On a machine that stood still it may be over.
  if (early.kind !== 'ok') expect(early).toMatchObject(BUSY);
  const next = early.kind === 'ok' ? early.value : await acquireOnceFree(arena, request);
  expect(arena.now() - asked).toBeGreaterThanOrEqual((1 - DRIFT) * nanosOf(arena.ttlMillis));
  return next;
}

export async function acquireWithin(
  { now, elapse, stallMillis }: Arena,
  { locks }: ContractClient,
  { request, limitMillis }: { readonly request: Requests; readonly limitMillis: number },
): Promise<Grant> {
  const deadline = now() + limitMillis * 1e6;
  for (;;) {
    const attempt = request();
    const late = now() > deadline;
    const outcome = await locks.acquire(attempt);
    // No answer says nothing of the lock.
    const unknown = outcome.kind === 'info' && now() < deadline + stallMillis * 1e6;
    if (outcome.kind === 'ok' || (late && !unknown)) return granted(outcome);
    if (outcome.kind === 'info') await locks.abandon(attempt);
    await elapse(POLL_MILLIS);
  }
}

/** The first attempts may find the old connections, which have not noticed yet. */
export async function releaseOnceHealed({ first, elapse }: Arena, grant: Grant): Promise<Outcome<Released>> {
  for (let tries = 0; ; tries++) {
    const outcome = await first.locks.release(grant);
    if (outcome.kind === 'ok' || tries === 10) return outcome;
    await elapse(100);
  }
}

interface Released {
  readonly released?: boolean;
}

export function releasedOf(outcome: Outcome<Released>): boolean | undefined {
  return outcome.kind === 'ok' ? outcome.value.released : undefined;
}

/** On a network that loses nothing. etcd's own library does not say what its release found. */
export function expectReleased({ recipe }: Arena, outcome: Outcome<Released>, released: boolean): void {
  expect(outcome).toEqual({ kind: 'ok', value: recipe.name === 'etcd3-lock' ? {} : { released } });
}

/** It ends its belief itself, before the service can end the lease. */
export function watchesItsDeadline({ flaw, name, keepsAlive, polls }: ContractRecipe): boolean {
  return flaw === undefined && name !== 'etcd3-lock' && (keepsAlive === true || !polls);
}
