// Acquires and what their owners did with them. A session is one acquire with the releases, renewals and answers that
// belong to it. It begins at an instant from `earliestBegin` to `latestBegin` and ends at one from `earliestEnd` to
// `latestEnd`, and all it asks of the others is that nobody else holds the lock between `latestBegin` and `earliestEnd`,
// its core. That works while it is plain which acquire an operation belongs to: always if each attempt has an owner of
// its own, else as long as an owner closes one session before it begins the next. With owners used again after unknown
// outcomes the problem is NP-complete, and the answer here is `undecided`.

import { Kind, NEVER, NONE, type LockEntries } from '../entries.ts';
import { UNDECIDED, type Decision, type Reason, type Refutation } from './decision.ts';

/** Columns, one row for each session that certainly held the lock, in order of the acquires' invocation. */
export interface Sessions {
  readonly count: number;
  readonly acquire: Int32Array;
  readonly token: Int32Array;
  readonly earliestBegin: Float64Array;
  readonly latestBegin: Float64Array;
  /** The entry whose return sets `latestBegin`: the acquire or, its outcome unknown, the first success of its owner. */
  readonly beginProof: Int32Array;
  /** Not before `earliestBegin`: what may end a session was invoked after its acquire. */
  readonly earliestEnd: Float64Array;
  /** The entry that sets `earliestEnd`; `NONE` if nothing ends the session. */
  readonly endProof: Int32Array;
  readonly latestEnd: Float64Array;
  /** The service told an owner that the lock is not his: the entry, and the row of his session, if it has one. */
  readonly disowned: readonly { readonly entry: number; readonly row: number }[];
  /** Acquires of unknown outcome of which nothing shows that they happened; they have no row. */
  readonly possible: readonly PossibleSession[];
  /** Of some session it depends on when it began how early it can end: what prolongs it may have come before it. */
  readonly endsDepend: boolean;
}

export interface PossibleSession {
  readonly earliestBegin: number;
  /** `NEVER`: once begun it goes on for ever. */
  readonly earliestEnd: number;
  /** Not `NEVER`: a release that did not check the owner was answered then, and would have ended it. */
  readonly latestEnd: number;
  /** Of the grant, should it turn out to have happened; or `NONE`. */
  readonly token: number;
}

/** `leases`: a session may also end by itself, when its last guarantee is over. O(n). */
export function sessionsOf(
  entries: LockEntries,
  { leases }: { readonly leases: boolean },
): ({ readonly verdict: 'sessions' } & Sessions) | Decision {
  const { size, kind, invoked, returned, owner, owners, lease } = entries;
  let count = 0;
  for (let entry = 0; entry < size; entry++) if (kind[entry] === Kind.acquire) count++;
  const acquire = new Int32Array(count);
  const latestBegin = new Float64Array(count).fill(NEVER);
  const beginProof = new Int32Array(count).fill(NONE);
  /** The success invoked last: the session was still going on then. */
  const lastSuccess = new Int32Array(count);
  /** The release invoked first: the session may have ended then. */
  const firstRelease = new Int32Array(count).fill(NONE);
  const unknownReleases = new Uint8Array(count);
  const guarantee = new Float64Array(count).fill(NEVER);
  const guarantor = new Int32Array(count).fill(NONE);
  const latestEnd = new Float64Array(count).fill(NEVER);
  /** The release that sets `latestEnd`. */
  const lastRelease = new Int32Array(count).fill(NONE);
  const unclearEnd = new Uint8Array(count);
  const provedReleases = new Uint8Array(count);
  const lastReturn = new Float64Array(count).fill(-Infinity);
  /** The lease in force, the return of the last renewal, and the shortest lease of renewals that may or may not act. */
  const length = new Float64Array(count);
  const lastRenewal = new Float64Array(count).fill(-Infinity);
  const shortestUnknown = new Float64Array(count).fill(Infinity);
  const disowned: { entry: number; row: number }[] = [];

  const current = new Int32Array(owners.length).fill(NONE);
  /** By owner: the last return of a success that no acquire of his accounts for; he cannot acquire any more. */
  const unaccounted = new Float64Array(owners.length).fill(-Infinity);
  /** By owner: a release or renewal before any acquire, that might act after a later one. */
  const stray = new Uint8Array(owners.length);
  let endsDepend = false;
  let refuted: Refutation | undefined;
  /** Of several contradictions the one that is complete first; the last of `conflict` completes it. */
  const refute = (reason: Reason, conflict: readonly [number, ...number[]]): void => {
    const last = conflict.at(-1) ?? 0;
    const sooner = refuted === undefined || (returned[last] ?? 0) < (returned[refuted.refuted] ?? 0);
    if (sooner) refuted = { verdict: 'invalid', refuted: last, conflict: [...new Set(conflict)], reason };
  };

  /** By owner: what he invoked before this stamp may belong to his last session or to the one before. */
  const unclearUntil = new Float64Array(owners.length).fill(-Infinity);
  const unaccountedFor = (entry: number, reason: Reason, conflict: readonly [number, ...number[]]): void => {
    const who = owner[entry] ?? 0;
    unaccounted[who] = Math.max(unaccounted[who] ?? 0, returned[entry] ?? 0);
    refute(reason, conflict);
  };
  /** The owner of `session` may begin another one by `entry`, and it stays plain what belongs to which. */
  const closed = (session: number, entry: number): boolean => {
    if ((lastReturn[session] ?? 0) >= (invoked[entry] ?? 0)) return false;
    if (provedReleases[session] === 1) return unknownReleases[session] === 0;
    // The new acquire, if it happened, shows that the session is over: by its lease, or by its one release.
    unclearUntil[owner[entry] ?? 0] = returned[entry] ?? 0;
    const happened = latestBegin[session] !== NEVER && returned[entry] !== NEVER;
    return happened && unknownReleases[session] === (leases ? 0 : 1);
  };
  const succeed = (session: number, entry: number): void => {
    const stamp = returned[entry] ?? 0;
    if (stamp < (latestBegin[session] ?? 0)) {
      latestBegin[session] = stamp;
      beginProof[session] = entry;
    }
    lastSuccess[session] = entry;
  };
  const endBy = (session: number, entry: number): void => {
    if ((returned[entry] ?? 0) >= (latestEnd[session] ?? 0)) return;
    latestEnd[session] = returned[entry] ?? 0;
    lastRelease[session] = entry;
  };

  /**
   * A renewal in a session with leases. False: which renewal acted last would be a choice, and with different leases that
   * makes a difference.
   */
  const renewal = (session: number, entry: number): boolean => {
    const own = lease[entry] ?? 0;
    const present = length[session] ?? 0;
    if (returned[entry] === NEVER) {
      shortestUnknown[session] = Math.min(shortestUnknown[session] ?? 0, own);
      return own >= present;
    }
    // One that does not check may have come first, after a lease that was over already, and then it did nothing.
    const orderMatters = own !== present || kind[entry] === Kind.renewUnchecked;
    if (orderMatters && (lastRenewal[session] ?? 0) >= (invoked[entry] ?? 0)) return false;
    if (own > (shortestUnknown[session] ?? 0)) return false;
    lastRenewal[session] = Math.max(lastRenewal[session] ?? 0, returned[entry] ?? 0);
    if (kind[entry] === Kind.renew) succeed(session, entry);
    else {
      const afterBegin = (invoked[entry] ?? 0) > (latestBegin[session] ?? 0);
      // It did nothing if it came before the acquire, or after a lease that went as soon as it could.
      if (!afterBegin || (returned[entry] ?? 0) >= (guarantee[session] ?? 0)) {
        endsDepend = true;
        return own >= present;
      }
    }
    length[session] = own;
    guarantee[session] = (invoked[entry] ?? 0) + own;
    guarantor[session] = entry;
    return true;
  };

  let sessions = 0;
  for (let entry = 0; entry < size; entry++) {
    const who = owner[entry] ?? 0;
    const session = current[who] ?? NONE;
    const stamp = returned[entry] ?? 0;
    const what = kind[entry] ?? 0;
    const unchecked = leases && what === Kind.releaseUnchecked;
    const renews = what === Kind.renew || what === Kind.renewUnchecked;
    if (stamp === NEVER && (what === Kind.disowned || what === Kind.busy || (renews && !leases))) continue;
    if (what === Kind.acquire) {
      if (stray[who] === 1 || (unaccounted[who] ?? 0) >= (invoked[entry] ?? 0)) return UNDECIDED;
      if (session !== NONE && !closed(session, entry)) return UNDECIDED;
      // A renewal of unknown outcome may act in the next session of its owner, and make that lease shorter.
      const pending = session === NONE ? Infinity : (shortestUnknown[session] ?? Infinity);
      if (leases && (lease[entry] ?? 0) > pending) return UNDECIDED;
      shortestUnknown[sessions] = pending;
      acquire[sessions] = entry;
      lastSuccess[sessions] = entry;
      if (stamp !== NEVER) {
        succeed(sessions, entry);
        lastReturn[sessions] = stamp;
      }
      if (leases) {
        length[sessions] = lease[entry] ?? 0;
        guarantee[sessions] = (invoked[entry] ?? 0) + (lease[entry] ?? 0);
        guarantor[sessions] = entry;
      }
      current[who] = sessions++;
      continue;
    }
    if (what === Kind.busy) continue;
    if ((invoked[entry] ?? 0) <= (unclearUntil[who] ?? 0)) return UNDECIDED;
    if (session === NONE) {
      if (what === Kind.renewUnchecked || unchecked || stamp === NEVER) stray[who] = 1;
      else if (what !== Kind.disowned) unaccountedFor(entry, 'success-without-hold', [entry]);
      continue;
    }
    if (stamp !== NEVER) lastReturn[session] = Math.max(lastReturn[session] ?? 0, stamp);
    switch (what) {
      case Kind.release:
      case Kind.releaseUnchecked:
        if (firstRelease[session] === NONE) firstRelease[session] = entry;
        if (stamp === NEVER) {
          unknownReleases[session] = Math.min(2, (unknownReleases[session] ?? 0) + 1);
          break;
        }
        endBy(session, entry);
        if (unchecked) {
          // It ended the session, unless it acted before the acquire and did nothing.
          if ((invoked[entry] ?? 0) <= (latestBegin[session] ?? 0)) unclearEnd[session] = 1;
          break;
        }
        if (provedReleases[session] === 1) {
          const conflict = [acquire[session] ?? 0, lastRelease[session] ?? 0, entry] as const;
          unaccountedFor(entry, 'success-after-end', conflict);
        }
        succeed(session, entry);
        provedReleases[session] = 1;
        break;
      case Kind.renew:
      case Kind.renewUnchecked:
        if (!leases) {
          if (what === Kind.renew) succeed(session, entry);
          break;
        }
        if (!renewal(session, entry)) return UNDECIDED;
        break;
      case Kind.disowned:
        disowned.push({ entry, row: session });
        break;
      default:
    }
  }

  // Keep, in place, the sessions that certainly held the lock, and work out when each is over.
  const rowOf = new Int32Array(count).fill(NONE);
  const earliestBegin = new Float64Array(count);
  const earliestEnd = new Float64Array(count);
  const endProof = new Int32Array(count);
  const token = new Int32Array(count);
  const possible: PossibleSession[] = [];
  let rows = 0;
  for (let session = 0; session < count; session++) {
    const release = firstRelease[session] ?? NONE;
    const released = release === NONE ? NEVER : (invoked[release] ?? 0);
    if (latestBegin[session] === NEVER) {
      const attempt = acquire[session] ?? 0;
      possible.push({
        earliestBegin: invoked[attempt] ?? 0,
        earliestEnd: Math.min(guarantee[session] ?? 0, released),
        latestEnd: latestEnd[session] ?? NEVER,
        token: entries.token[attempt] ?? NONE,
      });
      continue;
    }
    if (unclearEnd[session] === 1) return UNDECIDED;
    const row = rows++;
    rowOf[session] = row;
    const taken = acquire[session] ?? 0;
    acquire[row] = taken;
    token[row] = entries.token[taken] ?? NONE;
    earliestBegin[row] = invoked[taken] ?? 0;
    latestBegin[row] = latestBegin[session] ?? 0;
    beginProof[row] = beginProof[session] ?? 0;
    latestEnd[row] = latestEnd[session] ?? 0;

    const success = lastSuccess[session] ?? 0;
    let end = guarantee[session] ?? 0;
    let proof = guarantor[session] ?? NONE;
    if (released < end) {
      end = released;
      proof = release;
    }
    if ((invoked[success] ?? 0) > end) {
      end = invoked[success] ?? 0;
      proof = success;
    }
    earliestEnd[row] = end;
    endProof[row] = proof;
    if (end > (latestEnd[row] ?? 0)) refute('success-after-end', [taken, lastRelease[session] ?? 0, success]);
  }
  if (refuted !== undefined) return refuted;
  return {
    verdict: 'sessions',
    count: rows,
    acquire,
    token,
    earliestBegin,
    latestBegin,
    beginProof,
    earliestEnd,
    endProof,
    latestEnd,
    disowned: disowned.map(({ entry, row: session }) => ({ entry, row: rowOf[session] ?? NONE })),
    possible,
    endsDepend,
  };
}
