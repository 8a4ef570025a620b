// The steps that etcd recipes are put together from: take a place in a lock's queue, wait until it is its turn, keep
// and leave it. A place is a key with a lease of its own; who created the oldest key holds the lock, and the revision
// at which it was created is the fencing token, since revisions only grow. This is the lock of etcd's own client
// library (etcd 3.5, client/v3/concurrency/mutex.go) with one lease for each attempt instead of one for each client.

import type { Clock } from '../../clock.ts';
import type { AcquireRequest, Grant, Outcome } from '../../contract/lock-client.ts';
import { fencingToken, millis, nanos, nanosOf, type Millis, type Nanos } from '../../history/op.ts';
import { releaseUntilDone } from '../until-done.ts';
import { LEASE_GONE, NO_LEASE, outcomeOf } from './errors.ts';
import type { EtcdPort, LeaseId } from './port.ts';

const BUSY: Outcome<never> = { kind: 'fail', error: 'busy' };
const NOT_OWNER: Outcome<never> = { kind: 'fail', error: 'not-owner' };

/** What keeps the lease alive while its place waits or holds; the recipes' own renewal has the same pace. */
export const RENEW_AT = 1 / 3;
/** A watch that broke unseen costs no more than this. */
const WATCH_MILLIS_MAX = 1_000;
const RETRY_PAUSE = millis(20);

/** A lease is measured in whole seconds; never less than was asked for. */
export function wholeSeconds(ttlMillis: Millis): number {
  return Math.ceil(ttlMillis / 1_000);
}

/** How long a lease of so many seconds may be relied upon, counted from before the request left. */
export function leaseEnd(sent: Nanos, ttlSeconds: number): Nanos {
  return nanos(sent + nanosOf(millis(ttlSeconds * 1_000)));
}

/** It is a place's turn when fewer than `fewer` keys that begin with the prefix were created before its own. */
interface Ahead {
  readonly prefix: string;
  readonly fewer: number;
}

/** How places stand in a lock's queue. */
export interface Queueing {
  readonly keyOf: (request: AcquireRequest) => string;
  readonly aheadOf: (request: AcquireRequest) => Ahead;
}

/** One after the other: a place waits for the one before it. */
export const oneByOne: Queueing = {
  keyOf: placeKey,
  aheadOf: ({ lock }) => ({ prefix: queueOf(lock), fewer: 1 }),
};

/** A lease, and the key attached to it. */
export interface Place {
  readonly key: string;
  readonly ahead: Ahead;
  readonly lease: LeaseId;
  readonly ttlSeconds: number;
  /** Until when the lease may be relied upon. */
  validUntil: Nanos;
}

export function placeKey({ lock, owner }: Pick<AcquireRequest, 'lock' | 'owner'>): string {
  return `${queueOf(lock)}${owner}`;
}

/** What the keys of a lock's queue begin with. */
export function queueOf(lock: string): string {
  return `lock/${lock}/`;
}

/** A lease for the request. Without one no key is put, so whatever went wrong, the lock was not taken. */
export async function leasePlace(
  etcd: EtcdPort,
  clock: Clock,
  { request, queueing }: { readonly request: AcquireRequest; readonly queueing: Queueing },
): Promise<Outcome<Place>> {
  const sent = clock.now();
  const leased = await etcd.grantLease(wholeSeconds(request.ttlMillis));
  if (leased.kind !== 'ok') return outcomeOf(NO_LEASE);
  const { lease, ttlSeconds } = leased.value;
  return {
    kind: 'ok',
    value: {
      key: queueing.keyOf(request),
      ahead: queueing.aheadOf(request),
      lease,
      ttlSeconds,
      validUntil: leaseEnd(sent, ttlSeconds),
    },
  };
}

/** Restarts the place's lease. `fail`: it is gone. */
export async function keepPlace(
  etcd: EtcdPort,
  clock: Clock,
  place: Place,
): Promise<Outcome<{ readonly validUntil: Nanos }>> {
  const sent = clock.now();
  const kept = await etcd.keepAlive(place.lease);
  if (kept.kind !== 'ok') return kept;
  if (kept.value.ttlSeconds === 0) return NOT_OWNER;
  place.validUntil = leaseEnd(sent, kept.value.ttlSeconds);
  return { kind: 'ok', value: { validUntil: place.validUntil } };
}

/**
 * Puts the place into the queue and waits until it is its turn, for at most the request's patience. `busy`: it was not,
 * and has left the queue.
 */
export async function waitForTurn(
  etcd: EtcdPort,
  clock: Clock,
  { request, place }: { readonly request: AcquireRequest; readonly place: Place },
): Promise<Outcome<Grant>> {
  const giveUpAt = clock.now() + nanosOf(request.patienceMillis ?? request.ttlMillis);
  const renewEveryNanos = nanosOf(millis(place.ttlSeconds * 1_000 * RENEW_AT));
  const { key, lease, ahead } = place;
  const put = await etcd.transact({
    when: { key, createRevision: 0n },
    success: [{ kind: 'put', key, value: request.owner, lease }],
  });
  if (put.kind !== 'ok') return put;
  const createRevision = put.value.revision;
  let renewAt = clock.now() + renewEveryNanos;
  for (;;) {
    if (clock.now() >= renewAt) {
      const kept = await keepPlace(etcd, clock, place);
      if (kept.kind === 'fail' && kept.error === 'not-owner') return outcomeOf(LEASE_GONE);
      renewAt = clock.now() + (kept.kind === 'ok' ? renewEveryNanos : 0);
    }
    const turn = await etcd.transact({
      when: { key, createRevision },
      success: [{ kind: 'before', prefix: ahead.prefix, createRevision, limit: ahead.fewer }],
    });
    if (turn.kind === 'ok' && !turn.value.succeeded) return outcomeOf(LEASE_GONE);
    const before = turn.kind === 'ok' ? (turn.value.found[0] ?? []) : [];
    const waits = before.length >= ahead.fewer;
    if (turn.kind === 'ok' && !waits && clock.now() < place.validUntil) {
      const token = fencingToken(createRevision.toString());
      return { kind: 'ok', value: { request, token, validUntil: place.validUntil } };
    }
    const now = clock.now();
    if (now >= giveUpAt) return await leave(etcd, clock, place);
    if (turn.kind === 'ok' && waits) {
      const waitMillis = Math.min((Math.min(giveUpAt, renewAt) - now) / 1e6, WATCH_MILLIS_MAX);
      const since = turn.value.revision + 1n;
      // As long as all of the youngest are there, there are not fewer.
      const watches = before.map((one) => etcd.deleted(one.key, since, millis(Math.max(0, waitMillis))));
      if (await Promise.race(watches)) continue;
    }
    // It is its turn, but its lease must be shown to be alive; or nobody answered; or the watch ended early.
    if (!waits) renewAt = now;
    await clock.sleep(RETRY_PAUSE);
  }
}

async function leave(etcd: EtcdPort, clock: Clock, place: Place): Promise<Outcome<never>> {
  const left = await giveBack(etcd, clock, place);
  return left.kind === 'ok' ? BUSY : { kind: 'info', error: left.error };
}

/** Ends the lease and with it the place. `released`: the place was still there. */
export async function giveBack(
  etcd: EtcdPort,
  clock: Clock,
  { lease, ttlSeconds, validUntil }: Place,
): Promise<Outcome<{ readonly released?: boolean }>> {
  // A change of leader restarts the lease in full.
  const over = leaseEnd(validUntil, ttlSeconds);
  return await releaseUntilDone(
    clock,
    () => etcd.revoke(lease),
    () => clock.now() < over,
  );
}
