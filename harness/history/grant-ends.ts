// When the hold and the tenure of a grant end (2.2 of the design): each of the ways there are, what a lease is certain of,
// and what makes both narrower. `grants.ts` knows what the two are, `holders.ts` what may be meant for a grant.

import type { HoldEnd, TenureEnd } from './grants.ts';
import type { History } from './history.ts';
import { millis, nanos, nanosOf, type Nanos } from './op.ts';
import { Came, flagAt, NEVER, NONE, type OperationColumns } from './operation-columns.ts';
import { partitionPoint } from './sorted.ts';

export const DEFAULT_CLOCK_TOLERANCE = 0.01;

/** When the holder of a granted acquire ended. A name may be used again after a `down`: the first one after the grant. */
export function downsOf({ columns, downs }: History): (row: number) => number {
  const byProcess = new Map(
    [...Map.groupBy(downs, ({ process }) => process)].map(([process, ofProcess]) => [
      process,
      ofProcess.map(({ time }) => time).sort((a, b) => a - b),
    ]),
  );
  return (row) => {
    const times = byProcess.get(columns.processes[columns.process[row] ?? 0] ?? '');
    const answered = columns.completed[row] ?? 0;
    return times?.[partitionPoint(times.length, (index) => (times[index] ?? 0) < answered)] ?? NEVER;
  };
}

/** What `holders.ts` says of one grant, by rows. */
export interface GrantDraft {
  readonly row: number;
  readonly release: number;
  readonly renewals: readonly number[];
  readonly lost: number;
  readonly askedAgain: number;
  readonly isDoubted: boolean;
}

interface End<By> {
  readonly at: number;
  readonly by: By;
}

/** `end`, unless `at` is no later. */
function orBy<By>(end: End<By>, at: number, by: By): End<By> {
  return at <= end.at ? { at, by } : end;
}

/** Stamps, or `NEVER`; rows. */
export interface Settled {
  readonly start: number;
  readonly hold: End<HoldEnd>;
  readonly tenure: End<TenureEnd>;
  readonly provedBy: number;
  readonly leaseEnd: number;
}

export function settle(draft: GrantDraft, history: History, down: number): Settled {
  const { columns } = history;
  const { meta, clockErrorNanos } = history.header;
  const { row, lost } = draft;
  const released = draft.release === NONE ? NEVER : (columns.invoked[draft.release] ?? 0);
  // The journal promises a `down` for each process; without it its next line, a release perhaps, may be missing.
  const process = columns.processes[columns.process[row] ?? 0] ?? '';
  const cutOff =
    meta.closedByDown === true && down === NEVER ? (history.lastSeen.get(process) ?? NEVER) : NEVER;

  // Past the last stamp, so that a grant made there is still met.
  const openEnd = nearest(history.end + 1);
  // Of two at one time the one that stands last here is named.
  let hold: End<HoldEnd> = { at: openEnd, by: 'open' };
  hold = orBy(hold, cutOff, 'cut-off');
  hold = orBy(hold, draft.askedAgain, 'asked-again');
  hold = orBy(hold, down, 'down');
  hold = orBy(hold, meta.deadlineAware === true ? deadlineOf(draft, columns) : NEVER, 'deadline');
  hold = orBy(hold, lost, 'lost');
  hold = orBy(hold, released, 'release');

  const lease = leaseOf(draft, history);
  let tenure: End<TenureEnd> = { at: openEnd, by: 'open' };
  if (lease.end === NEVER) {
    tenure = orBy(tenure, cutOff, 'cut-off');
    tenure = orBy(tenure, down, 'down');
    // A service without leases that took it back did so at some time after it last said otherwise.
    tenure = orBy(tenure, lost === NEVER ? NEVER : lease.provedAt, 'lost');
  } else {
    tenure = orBy({ at: cutOff === NEVER ? lease.end : cutOff, by: 'cut-off' }, lease.end, 'lease');
    tenure = orBy(tenure, draft.isDoubted ? lost : NEVER, 'lost');
  }
  tenure = orBy(tenure, released, 'release');

  const narrowed = <By>({ at, by }: End<By>): End<By> => ({
    at: nearest(at - (by === 'open' ? 0 : clockErrorNanos)),
    by,
  });
  return {
    start: nearest((columns.completed[row] ?? 0) + clockErrorNanos),
    hold: narrowed(hold),
    tenure: narrowed(tenure),
    provedBy: lease.provedBy,
    leaseEnd: lease.end === NEVER ? NEVER : nearest(lease.end - clockErrorNanos),
  };
}

/** When a client that checks its deadline stops believing: the last deadline it was given. */
function deadlineOf({ row, renewals }: GrantDraft, columns: OperationColumns): number {
  const { outcome, completed, validUntil } = columns;
  let deadline = validUntil[row] ?? NEVER;
  for (const renewal of renewals) {
    const answered = completed[renewal] ?? NEVER;
    const until = validUntil[renewal] ?? NEVER;
    if (outcome[renewal] !== Came.ok || until === NEVER || answered === NEVER) continue;
    // Too late: it had stopped believing before this answer came.
    if (answered > deadline) break;
    deadline = until;
  }
  return deadline;
}

interface Lease {
  /** Until when it is certain to run; `NEVER`: there is none. */
  readonly end: number;
  /** The row of the last operation that proves the grant to have been in force, and when it was. */
  readonly provedBy: number;
  readonly provedAt: number;
}

/**
 * A lease counts from the invocation of the last successful acquire or renew, because the service may have set it at
 * once; a renew of unknown outcome may have made it shorter. An owner-checked operation that answered `ok` also bridges
 * the time before it: it could not have succeeded, had the tenure ended.
 */
function leaseOf({ row, renewals, release, isDoubted }: GrantDraft, { header, columns }: History): Lease {
  const { meta } = header;
  const { invoked, completed, outcome, ttlMillis } = columns;
  const certain = 1 - (meta.clockTolerance ?? DEFAULT_CLOCK_TOLERANCE);
  const ownerChecked = meta.ownerChecked !== false;
  const asked = ttlMillis[row] ?? NEVER;
  const endFrom = (set: number): number => {
    const ttl = ttlMillis[set] ?? NEVER;
    const lasts = ttl === NEVER ? asked : ttl;
    return lasts === NEVER ? NEVER : Math.floor((invoked[set] ?? 0) + nanosOf(millis(lasts)) * certain);
  };
  let end = endFrom(row);
  let provedBy = row;
  let provedAt = columns.completed[row] ?? 0;
  for (const renewal of renewals) {
    if (outcome[renewal] === Came.info) end = Math.min(end, endFrom(renewal));
    if (outcome[renewal] !== Came.ok) continue;
    // Answered later it may have been made later, on somebody else's lease.
    if (!ownerChecked && (completed[renewal] ?? NEVER) > end) break;
    end = endFrom(renewal);
    provedBy = renewal;
    provedAt = invoked[renewal] ?? 0;
  }
  const releasedByOwner =
    release !== NONE && outcome[release] === Came.ok && flagAt(columns, release, 'released') === true;
  if (ownerChecked && releasedByOwner && !isDoubted && (invoked[release] ?? 0) > end) {
    end = invoked[release] ?? 0;
    provedBy = release;
    provedAt = end;
  }
  return { end, provedBy, provedAt };
}

/** The nearest exact time: a hostile stamp or lease must not end the judging. */
function nearest(time: number): Nanos {
  return nanos(Math.min(Math.max(time, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER));
}
