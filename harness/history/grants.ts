// From operations to the two intervals that are never confused (2.2 of the design): what a client believed (hold) and
// what the service certainly promised (tenure). The rules in `checkers/` stand on these; they know nothing of files.
// Both intervals are narrow on purpose (I2): whatever overlaps here did overlap.

import { byHolder } from './by-holder.ts';
import type { Acquire, History, Release, Renew } from './history.ts';
import { nanos, nanosOf, type FencingToken, type Nanos, type Outcome } from './op.ts';

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
  for (const moment of momentsOf(history)) {
    const { process, lock } = moment;
    const held = unreleased.get(process, lock) ?? [];
    const latest = held.at(-1);
    switch (moment.kind) {
      case 'asked':
        if (latest === undefined) break;
        latest.askedAgain ??= moment.at;
        latest.doubted ||= moment.outcome !== 'fail';
        break;
      case 'granted': {
        const draft = { acquire: moment.acquire, renewals: [], doubted: false };
        drafts.push(draft);
        held.push(draft);
        unreleased.set(process, lock, held);
        if (latest === undefined) break;
        latest.askedAgain ??= moment.at;
        latest.doubted = true;
        break;
      }
      case 'renewed':
        if (latest?.doubted === false) latest.renewals.push(moment.renew);
        break;
      case 'released':
        // It may be meant for any of them.
        for (const draft of held) draft.release = moment.release;
        unreleased.delete(process, lock);
        break;
      case 'lost':
        for (const draft of held) draft.lost ??= moment.at;
        if (latest !== undefined) unreleased.set(process, lock, [latest]);
        break;
    }
  }
  const downs = Map.groupBy(history.downs, ({ process }) => process);
  // A name may be used again after a `down`: the first one after the grant ended its holder.
  const downAfter = ({ process, ...acquire }: Acquire): Nanos | undefined => {
    const times = (downs.get(process) ?? [])
      .map(({ time }) => time)
      .filter((time) => time >= answeredAt({ process, ...acquire }));
    return times.length === 0 ? undefined : times.reduce((first, time) => (time < first ? time : first));
  };
  return drafts
    .map((draft) => settle(draft, history, downAfter(draft.acquire)))
    .sort((a, b) => answeredAt(a.acquire) - answeredAt(b.acquire) || a.acquire.id - b.acquire.id);
}

interface GrantDraft {
  readonly acquire: Acquire;
  readonly renewals: Renew[];
  release?: Release;
  lost?: Nanos;
  askedAgain?: Nanos;
  /**
   * A later attempt of its process was granted, or may have been. From then on a renew or release may be that one's:
   * it proves nothing about this grant, but it may have ended it.
   */
  doubted: boolean;
}

/** What happens to the holds of one process on one lock, at one time. */
type Moment = {
  readonly process: string;
  readonly lock: string;
  readonly at: Nanos;
  readonly order: number;
} & (
  | { readonly kind: 'granted'; readonly acquire: Acquire }
  | { readonly kind: 'renewed'; readonly renew: Renew }
  | { readonly kind: 'released'; readonly release: Release }
  | { readonly kind: 'asked'; readonly outcome: Outcome }
  | { readonly kind: 'lost' }
);

/** In order of time. At one time what ends a hold comes before what begins one, and a grant before what is done to it. */
function momentsOf(history: History): Moment[] {
  const moments: Moment[] = [];
  for (const operation of history.operations) {
    const { process, invoked, id } = operation;
    switch (operation.op) {
      case 'acquire': {
        const { lock, outcome } = operation;
        moments.push({ process, lock, at: invoked, order: -1, kind: 'asked', outcome });
        if (outcome === 'ok')
          moments.push({
            process,
            lock,
            at: answeredAt(operation),
            order: 0,
            kind: 'granted',
            acquire: operation,
          });
        break;
      }
      case 'renew':
        moments.push({
          process,
          lock: operation.lock,
          at: invoked,
          order: id,
          kind: 'renewed',
          renew: operation,
        });
        break;
      case 'release':
        moments.push({
          process,
          lock: operation.lock,
          at: invoked,
          order: id,
          kind: 'released',
          release: operation,
        });
        break;
      case 'read':
      case 'write':
      case 'cas':
        break;
    }
  }
  for (const { process, lock, time } of history.losses)
    moments.push({ process, lock, at: time, order: Infinity, kind: 'lost' });
  return moments.sort((a, b) => a.at - b.at || a.order - b.order);
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
  const holdEnd = earliest<HoldEnd>([
    [release?.invoked, 'release'],
    [lost, 'lost'],
    [meta.deadlineAware === true ? deadlineOf(acquire, renewals) : undefined, 'deadline'],
    [down, 'down'],
    [draft.askedAgain, 'asked-again'],
    [cutOff, 'cut-off'],
    [openEnd, 'open'],
  ]);

  const lease = leaseOf(draft, history);
  const tenureEnd = earliest<TenureEnd>([
    [release?.invoked, 'release'],
    ...(lease.end === undefined
      ? ([
          // A service without leases that took it back did so at some time after it last said otherwise.
          [lost === undefined ? undefined : lease.provedAt, 'lost'],
          [down, 'down'],
          [openEnd, 'open'],
        ] as const)
      : ([
          [draft.doubted ? lost : undefined, 'lost'],
          [lease.end, 'lease'],
        ] as const)),
    [cutOff, 'cut-off'],
  ]);

  const narrowed = ({ at, by }: { at: Nanos; by: string }): Interval => ({
    start: nearest(start + clockErrorNanos),
    end: nearest(at - (by === 'open' ? 0 : clockErrorNanos)),
  });
  return {
    acquire,
    process,
    lock,
    token: acquire.token,
    hold: { ...narrowed(holdEnd), endedBy: holdEnd.by },
    tenure: { ...narrowed(tenureEnd), endedBy: tenureEnd.by, provedBy: lease.provedBy },
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

function earliest<By>(candidates: readonly (readonly [Nanos | undefined, By])[]): { at: Nanos; by: By } {
  let first: { at: Nanos; by: By } | undefined;
  for (const [at, by] of candidates)
    if (at !== undefined && (first === undefined || at < first.at)) first = { at, by };
  if (first === undefined) throw new RangeError('no candidate for an end');
  return first;
}

/** They have more than a point in common. */
export function intersect(a: Interval, b: Interval): boolean {
  return Math.max(a.start, b.start) < Math.min(a.end, b.end);
}
