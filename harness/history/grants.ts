// From operations to the two intervals that are never confused (2.2 of the design): what a client believed (hold) and
// what the service certainly promised (tenure). The rules in `checkers/` stand on these; they know nothing of files.
// Both intervals are narrow on purpose (I2): whatever overlaps here did overlap.

import { byHolder } from './by-holder.ts';
import type { Acquire, History, Release, Renew } from './history.ts';
import { isReentry } from './kinds.ts';
import { nanos, nanosOf, type FencingToken, type Lost, type Nanos } from './op.ts';
import { partitionPoint } from './sorted.ts';

/** From `start` to `end`; empty if `end <= start`, and then it meets nothing. */
export interface Interval {
  readonly start: Nanos;
  readonly end: Nanos;
}

export type HoldEnd =
  | 'release'
  | 'lost'
  | 'deadline'
  | 'down'
  /** The same process asked for the lock again: it no longer believed. */
  | 'asked-again'
  /** Nothing ended it in this history. */
  | 'open'
  /** The journal stops before the process's end; nothing is known past its last stamp. */
  | 'cut-off';

export type TenureEnd =
  | 'release'
  /** Past this the lease may have run out. */
  | 'lease'
  | 'lost'
  | 'down'
  | 'open'
  | 'cut-off';

/** An acquire that completed `ok`, and what is known of the time after it. */
export interface Grant {
  readonly acquire: Acquire;
  readonly process: string;
  readonly lock: string;
  readonly token: FencingToken | undefined;
  readonly hold: Interval & { readonly endedBy: HoldEnd };
  readonly tenure: Interval & {
    readonly endedBy: TenureEnd;
    /** The last operation that proves it was in force: the acquire, a renew or a release. */
    readonly provedBy: number;
  };
  /** Until when the lease was certain to run, had nothing ended it early; undefined: the service has no lease. */
  readonly leaseEnd: Nanos | undefined;
  /** The first release of this grant, whatever came of it. */
  readonly release: Release | undefined;
  /** In order of invocation. */
  readonly renewals: readonly Renew[];
}

export const DEFAULT_CLOCK_TOLERANCE = 0.01;

/** When `acquire` was answered. Only of completed acquires. */
function answeredAt(acquire: Acquire): Nanos {
  if (acquire.completed === undefined) throw new RangeError(`acquire ${acquire.id} was never answered`);
  return acquire.completed;
}

/** The grants of a history in order of completion; ties by id. O(n log n). */
export function grantsOf(history: History): readonly Grant[] {
  /** Of each process and lock, the grants that nothing has released; the last one is what it holds now. */
  const unreleased = byHolder<GrantDraft[]>();
  const drafts: GrantDraft[] = [];
  const { meta } = history.header;
  inOrderOfTime(history, {
    asked(acquire) {
      const { process, lock, invoked, outcome } = acquire;
      const latest = unreleased.get(process, lock)?.at(-1);
      if (latest === undefined) return;
      if (!isReentry(meta, latest.acquire, acquire)) latest.askedAgain ??= invoked;
      else latest.unclear ||= outcome === 'info';
      latest.doubted ||= outcome !== 'fail';
    },
    granted(acquire) {
      const { process, lock } = acquire;
      const draft = { acquire, renewals: NONE, doubted: false, unclear: false };
      drafts.push(draft);
      const held = unreleased.get(process, lock);
      const latest = held?.at(-1);
      if (held === undefined) unreleased.set(process, lock, [draft]);
      else held.push(draft);
      if (latest === undefined) return;
      if (!isReentry(meta, latest.acquire, acquire)) latest.askedAgain ??= answeredAt(acquire);
      latest.doubted = true;
    },
    renewed(renew) {
      const latest = unreleased.get(renew.process, renew.lock)?.at(-1);
      if (latest?.doubted !== false) return;
      if (latest.renewals === NONE) latest.renewals = [];
      latest.renewals.push(renew);
    },
    released(release) {
      const held = unreleased.get(release.process, release.lock) ?? [];
      const [last, outer] = [held.at(-1), held.at(-2)];
      const isInner =
        last !== undefined && outer !== undefined && isReentry(meta, outer.acquire, last.acquire);
      if (isInner && !held.some(({ unclear }) => unclear)) {
        last.release = release;
        held.pop();
        return;
      }
      // It may be meant for any of them.
      for (const draft of held) draft.release = release;
      unreleased.delete(release.process, release.lock);
    },
    lost({ process, lock, time }) {
      const held = unreleased.get(process, lock) ?? [];
      for (const draft of held) draft.lost ??= time;
      const latest = held.at(-1);
      if (latest !== undefined) unreleased.set(process, lock, [latest]);
    },
  });
  const downs = new Map(
    [...Map.groupBy(history.downs, ({ process }) => process)].map(([process, ofProcess]) => [
      process,
      ofProcess.map(({ time }) => time).sort((a, b) => a - b),
    ]),
  );
  // A name may be used again after a `down`: the first one after the grant ended its holder.
  const downAfter = (acquire: Acquire): Nanos | undefined => {
    const times = downs.get(acquire.process);
    const answered = answeredAt(acquire);
    return times?.[partitionPoint(times.length, (index) => (times[index] ?? 0) < answered)];
  };
  return drafts
    .map((draft) => settle(draft, history, downAfter(draft.acquire)))
    .sort((a, b) => answeredAt(a.acquire) - answeredAt(b.acquire) || a.acquire.id - b.acquire.id);
}

interface GrantDraft {
  readonly acquire: Acquire;
  renewals: Renew[];
  release?: Release;
  lost?: Nanos;
  askedAgain?: Nanos;
  /**
   * A later attempt of its process was granted, or may have been. From then on a renew or release may be that one's:
   * it proves nothing about this grant, but it may have ended it.
   */
  doubted: boolean;
  /** Whether its holder came in again is unknown, and so is how often it must be released. */
  unclear: boolean;
}

/** Most grants have no renewal; they share this, and nothing is ever added to it. */
const NONE: Renew[] = [];

/** What happens to the holds of processes on locks. */
interface Moments {
  /** An acquire was invoked. */
  asked(acquire: Acquire): void;
  /** An acquire was answered `ok`. */
  granted(acquire: Acquire): void;
  /** A renew was invoked. */
  renewed(renew: Renew): void;
  /** A release was invoked. */
  released(release: Release): void;
  lost(loss: Lost): void;
}

/** In order of time. At one time what ends a hold comes before what begins one, and a grant before what is done to it. */
function inOrderOfTime({ operations, losses }: History, moments: Moments): void {
  const acquires: Acquire[] = [];
  const others: (Renew | Release)[] = [];
  for (const operation of operations)
    if (operation.op === 'acquire') acquires.push(operation);
    else if (operation.op === 'renew' || operation.op === 'release') others.push(operation);
  const granted = acquires
    .filter(({ outcome }) => outcome === 'ok')
    .sort((a, b) => answeredAt(a) - answeredAt(b));
  const lost = losses.toSorted((a, b) => a.time - b.time);

  let [nextAcquire, nextGranted, nextOther, nextLost] = [0, 0, 0, 0];
  for (;;) {
    const acquire = acquires[nextAcquire];
    const grant = granted[nextGranted];
    const other = others[nextOther];
    const loss = lost[nextLost];
    const asked = acquire?.invoked ?? Infinity;
    const answered = grant === undefined ? Infinity : answeredAt(grant);
    const sent = other?.invoked ?? Infinity;
    const now = Math.min(asked, answered, sent, loss?.time ?? Infinity);
    if (acquire !== undefined && asked === now) {
      moments.asked(acquire);
      nextAcquire += 1;
    } else if (grant !== undefined && answered === now) {
      moments.granted(grant);
      nextGranted += 1;
    } else if (other !== undefined && sent === now) {
      if (other.op === 'renew') moments.renewed(other);
      else moments.released(other);
      nextOther += 1;
    } else if (loss !== undefined) {
      moments.lost(loss);
      nextLost += 1;
    } else return;
  }
}

interface End<By> {
  readonly at: Nanos;
  readonly by: By;
}

/** `end`, unless `at` is no later. */
function orBy<By>(end: End<By>, at: Nanos | undefined, by: By): End<By> {
  return at !== undefined && at <= end.at ? { at, by } : end;
}

function settle(draft: GrantDraft, history: History, down: Nanos | undefined): Grant {
  const { meta, clockErrorNanos } = history.header;
  const { acquire, renewals, release, lost } = draft;
  const { process, lock } = acquire;
  const start = answeredAt(acquire);
  // The journal promises a `down` for each process; without it its next line, a release perhaps, may be missing.
  const cutOff = meta.closedByDown === true && down === undefined ? history.lastSeen.get(process) : undefined;

  // Past the last stamp, so that a grant made there is still met.
  const openEnd = nearest(history.end + 1);
  // Of two at one time the one that stands last here is named.
  let hold: End<HoldEnd> = { at: openEnd, by: 'open' };
  hold = orBy(hold, cutOff, 'cut-off');
  hold = orBy(hold, draft.askedAgain, 'asked-again');
  hold = orBy(hold, down, 'down');
  hold = orBy(hold, meta.deadlineAware === true ? deadlineOf(acquire, renewals) : undefined, 'deadline');
  hold = orBy(hold, lost, 'lost');
  hold = orBy(hold, release?.invoked, 'release');

  const lease = leaseOf(draft, history);
  let tenure: End<TenureEnd> = { at: openEnd, by: 'open' };
  if (lease.end === undefined) {
    tenure = orBy(tenure, cutOff, 'cut-off');
    tenure = orBy(tenure, down, 'down');
    // A service without leases that took it back did so at some time after it last said otherwise.
    tenure = orBy(tenure, lost === undefined ? undefined : lease.provedAt, 'lost');
  } else {
    tenure = orBy({ at: cutOff ?? lease.end, by: 'cut-off' }, lease.end, 'lease');
    tenure = orBy(tenure, draft.doubted ? lost : undefined, 'lost');
  }
  tenure = orBy(tenure, release?.invoked, 'release');

  const narrowedStart = nearest(start + clockErrorNanos);
  const narrowedEnd = ({ at, by }: End<string>): Nanos => nearest(at - (by === 'open' ? 0 : clockErrorNanos));
  return {
    acquire,
    process,
    lock,
    token: acquire.token,
    hold: { start: narrowedStart, end: narrowedEnd(hold), endedBy: hold.by },
    tenure: {
      start: narrowedStart,
      end: narrowedEnd(tenure),
      endedBy: tenure.by,
      provedBy: lease.provedBy,
    },
    leaseEnd: lease.end === undefined ? undefined : nearest(lease.end - clockErrorNanos),
    release,
    renewals,
  };
}

/** When a client that checks its deadline stops believing: the last deadline it was given. */
function deadlineOf(acquire: Acquire, renewals: readonly Renew[]): Nanos | undefined {
  let deadline = acquire.validUntil;
  for (const renew of renewals) {
    if (renew.outcome !== 'ok' || renew.validUntil === undefined || renew.completed === undefined) continue;
    // Too late: it had stopped believing before this answer came.
    if (deadline !== undefined && renew.completed > deadline) break;
    deadline = renew.validUntil;
  }
  return deadline;
}

interface Lease {
  /** Until when it is certain to run; undefined: there is none. */
  readonly end: Nanos | undefined;
  /** The last operation that proves the grant to have been in force, and when it was. */
  readonly provedBy: number;
  readonly provedAt: Nanos;
}

/**
 * A lease counts from the invocation of the last successful acquire or renew, because the service may have set it at
 * once; a renew of unknown outcome may have made it shorter. An owner-checked operation that answered `ok` also bridges
 * the time before it: it could not have succeeded, had the tenure ended.
 */
function leaseOf(draft: GrantDraft, history: History): Lease {
  const { meta } = history.header;
  const { acquire, renewals, release } = draft;
  const certain = 1 - (meta.clockTolerance ?? DEFAULT_CLOCK_TOLERANCE);
  const ownerChecked = meta.ownerChecked !== false;
  const endFrom = ({ invoked, ttlMillis = acquire.ttlMillis }: Acquire | Renew): number =>
    ttlMillis === undefined ? Infinity : Math.floor(invoked + nanosOf(ttlMillis) * certain);
  let end = endFrom(acquire);
  let provedBy = acquire.id;
  let provedAt = answeredAt(acquire);
  for (const renew of renewals) {
    if (renew.outcome === 'info') end = Math.min(end, endFrom(renew));
    if (renew.outcome !== 'ok') continue;
    if (!ownerChecked && renew.invoked > end) break;
    end = endFrom(renew);
    provedBy = renew.id;
    provedAt = renew.invoked;
  }
  const releasedByOwner = release?.outcome === 'ok' && release.released === true && !draft.doubted;
  if (ownerChecked && releasedByOwner && release.invoked > end) {
    end = release.invoked;
    provedBy = release.id;
    provedAt = release.invoked;
  }
  return { end: end === Infinity ? undefined : nearest(end), provedBy, provedAt };
}

/** The nearest exact time: a hostile stamp or lease must not end the judging. */
function nearest(time: number): Nanos {
  return nanos(Math.min(Math.max(time, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER));
}

/** They have more than a point in common. */
export function intersect(a: Interval, b: Interval): boolean {
  return Math.max(a.start, b.start) < Math.min(a.end, b.end);
}
