// From operations to the two intervals that are never confused (2.2 of the design): what a client believed (hold) and
// what the service certainly promised (tenure). The rules in `checkers/` stand on these; they know nothing of files.
// Both intervals are narrow on purpose (I2): whatever overlaps here did overlap.

import { downsOf, settle, type GrantDraft } from './grant-ends.ts';
import { followHolders } from './holders.ts';
import type { Acquire, History, Release, Renew } from './history.ts';
import { nanos, type FencingToken, type Nanos } from './op.ts';
import { acquireAt, NEVER, NONE, releaseAt, renewAt, type OperationColumns } from './operation-columns.ts';
import { sortRows } from './sort-rows.ts';

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

/**
 * The grants of a history as columns, one place for each, in order of completion; ties by id. A `Grant` is made of a place
 * where somebody wants to tell of it.
 */
export interface Grants {
  readonly size: number;
  /** The row of its acquire, and those of its process and lock, in the columns of the history. */
  readonly acquire: Int32Array;
  readonly process: Int32Array;
  readonly lock: Int32Array;
  /** As in the columns of the history. */
  readonly token: Int32Array;
  /** Both intervals begin there. */
  readonly start: Float64Array;
  readonly holdEnd: Float64Array;
  readonly tenureEnd: Float64Array;
  /** Position in `TENURE_ENDS`. */
  readonly tenureEndedBy: Uint8Array;
  /** The row of the first release, or `NONE`. */
  readonly release: Int32Array;
  /** By number of the lock: the places of its grants, in order. */
  readonly ofLock: readonly Int32Array[];
  readonly at: (place: number) => Grant;
}

/** Of a history, in order of completion; ties by id. O(n log n). */
export function grantsOf(history: History): readonly Grant[] {
  return allGrants(grantColumnsOf(history));
}

export function allGrants({ size, at }: Grants): readonly Grant[] {
  return Array.from({ length: size }, (_, place) => at(place));
}

const HOLD_ENDS: readonly HoldEnd[] = [
  'open',
  'cut-off',
  'asked-again',
  'down',
  'deadline',
  'lost',
  'release',
];
export const TENURE_ENDS: readonly TenureEnd[] = ['open', 'cut-off', 'down', 'lease', 'lost', 'release'];

/** The same as columns. O(n log n). */
export function grantColumnsOf(history: History): Grants {
  const { columns } = history;
  const followed = followHolders(history);
  const { size } = followed;
  const downAfter = downsOf(history);
  const acquire = new Int32Array(size);
  const process = new Int32Array(size);
  const lock = new Int32Array(size);
  const token = new Int32Array(size);
  const start = new Float64Array(size);
  const holdEnd = new Float64Array(size);
  const holdEndedBy = new Uint8Array(size);
  const tenureEnd = new Float64Array(size);
  const tenureEndedBy = new Uint8Array(size);
  const provedBy = new Int32Array(size);
  const leaseEnd = new Float64Array(size);
  const release = new Int32Array(size);
  const renewals = new Map<number, readonly number[]>();
  const order = inOrderOfAnswer(columns, followed.acquire);
  for (let place = 0; place < size; place++) {
    const followedAt = order[place] ?? 0;
    const row = followed.acquire[followedAt] ?? 0;
    const draft: GrantDraft = {
      row,
      release: followed.release[followedAt] ?? NONE,
      renewals: followed.renewals.get(followedAt) ?? NO_ROWS,
      lost: followed.lost[followedAt] ?? NEVER,
      askedAgain: followed.askedAgain[followedAt] ?? NEVER,
      isDoubted: followed.doubted[followedAt] === 1,
    };
    const settled = settle(draft, history, downAfter(row));
    acquire[place] = row;
    process[place] = columns.process[row] ?? 0;
    lock[place] = columns.lock[row] ?? 0;
    token[place] = columns.token[row] ?? 0;
    start[place] = settled.start;
    holdEnd[place] = settled.hold.at;
    holdEndedBy[place] = HOLD_ENDS.indexOf(settled.hold.by);
    tenureEnd[place] = settled.tenure.at;
    tenureEndedBy[place] = TENURE_ENDS.indexOf(settled.tenure.by);
    provedBy[place] = settled.provedBy;
    leaseEnd[place] = settled.leaseEnd;
    release[place] = draft.release;
    if (draft.renewals.length > 0) renewals.set(place, draft.renewals);
  }
  return {
    size,
    acquire,
    process,
    lock,
    token,
    start,
    holdEnd,
    tenureEnd,
    tenureEndedBy,
    release,
    ofLock: placesOf(lock, columns.locks.length),
    at(place) {
      const granted = acquireAt(columns, acquire[place] ?? 0);
      const released = release[place] ?? NONE;
      const lease = leaseEnd[place] ?? NEVER;
      const begun = nanos(start[place] ?? 0);
      return {
        acquire: granted,
        process: granted.process,
        lock: granted.lock,
        token: granted.token,
        hold: {
          start: begun,
          end: nanos(holdEnd[place] ?? 0),
          endedBy: HOLD_ENDS[holdEndedBy[place] ?? 0] ?? 'open',
        },
        tenure: {
          start: begun,
          end: nanos(tenureEnd[place] ?? 0),
          endedBy: TENURE_ENDS[tenureEndedBy[place] ?? 0] ?? 'open',
          provedBy: columns.id[provedBy[place] ?? 0] ?? 0,
        },
        leaseEnd: lease === NEVER ? undefined : nanos(lease),
        release: released === NONE ? undefined : releaseAt(columns, released),
        renewals: (renewals.get(place) ?? NO_ROWS).map((row) => renewAt(columns, row)),
      };
    },
  };
}

const NO_ROWS: readonly number[] = [];

/** The positions of `rows` in order of answer; of equals the one with the smaller id is first. */
function inOrderOfAnswer({ completed, id }: OperationColumns, rows: Int32Array): Int32Array {
  const ids = Float64Array.from(rows, (row) => id[row] ?? 0);
  const answered = Float64Array.from(rows, (row) => completed[row] ?? 0);
  return sortRows(sortRows(Int32Array.from(rows.keys()), ids), answered);
}

/** By number: the places that have it. O(n). */
function placesOf(numbers: Int32Array, count: number): Int32Array[] {
  const ends = new Int32Array(count + 1);
  for (const number of numbers) ends[number + 1] = (ends[number + 1] ?? 0) + 1;
  for (let number = 0; number < count; number++)
    ends[number + 1] = (ends[number + 1] ?? 0) + (ends[number] ?? 0);
  const begins = ends.slice();
  const places = new Int32Array(numbers.length);
  for (let place = 0; place < numbers.length; place++) {
    const number = numbers[place] ?? 0;
    const next = begins[number] ?? 0;
    places[next] = place;
    begins[number] = next + 1;
  }
  return Array.from({ length: count }, (_, number) => places.subarray(ends[number], ends[number + 1]));
}

/** They have more than a point in common. */
export function intersect(a: Interval, b: Interval): boolean {
  return Math.max(a.start, b.start) < Math.min(a.end, b.end);
}
