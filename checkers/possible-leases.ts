// Who may still have a lock, and until when: what the rules of liveness go by. A lock that is refused proves nothing as
// long as anybody may hold it, so every doubt counts as a lease: an acquire of unknown outcome, a renew, a library that
// prolongs on the quiet. Pure.

import type { Acquire, History, Operation, Renew } from '../harness/history/history.ts';
import type { Grant, Grants, Interval } from '../harness/history/grants.ts';
import { millis, nanosOf, type Millis } from '../harness/history/op.ts';
import { acquireAt, Came, NEVER, NONE, Op, renewAt } from '../harness/history/operation-columns.ts';
import { seconds } from './wording.ts';

const DEFAULT_SLACK_MILLIS = millis(1_000);

/** What happened to one lock. */
export interface LockRecord {
  readonly lock: string;
  /** In order of invocation. */
  readonly operations: readonly (Acquire | Renew)[];
  readonly grants: readonly Grant[];
  /** When each process that ended did. */
  readonly downs: ReadonlyMap<string, number>;
}

/**
 * One of each suspected lock that was asked for. A rule suspects those of which it may have to say something; nearly always
 * that is none, so it looks for them in the columns, where that takes no time. `suspected`: by number of the lock.
 */
export function* lockRecordsOf(
  { columns, downs }: History,
  grants: Grants,
  suspected: ReadonlySet<number>,
): Generator<LockRecord> {
  if (suspected.size === 0) return;
  const { size, op, lock, locks } = columns;
  const rowsOf = new Map<number, number[]>();
  for (let row = 0; row < size; row++) {
    const number = lock[row] ?? 0;
    if (!suspected.has(number) || (op[row] !== Op.acquire && op[row] !== Op.renew)) continue;
    const rows = rowsOf.get(number);
    if (rows === undefined) rowsOf.set(number, [row]);
    else rows.push(row);
  }
  const ended = new Map(downs.map(({ process, time }) => [process, time]));
  for (const [number, rows] of rowsOf)
    yield {
      lock: locks[number] ?? '',
      operations: rows.map((row) => (op[row] === Op.acquire ? acquireAt : renewAt)(columns, row)),
      grants: Array.from(grants.ofLock[number] ?? [], grants.at),
      downs: ended,
    };
}

/**
 * By row of an acquire: until when at least its process had the lock or a lease on it; -Infinity: that is not certain. No
 * earlier than its answer, and no later than `over` of its lease.
 */
export function surelyHadUntil({ columns }: History, grants: Grants): Float64Array {
  const { size, outcome, completed, ttlMillis } = columns;
  const until = new Float64Array(size).fill(-Infinity);
  for (let place = 0; place < grants.size; place++) {
    const row = grants.acquire[place] ?? 0;
    const release = grants.release[place] ?? NONE;
    if (release !== NONE && outcome[release] === Came.ok) until[row] = completed[release] ?? 0;
    else if ((ttlMillis[row] ?? NEVER) !== NEVER) until[row] = completed[row] ?? 0;
  }
  return until;
}

/** An operation that may have left the lock held, and the time by which that is over; Infinity: nobody knows. */
export interface Lease {
  readonly of: Acquire | Renew;
  readonly over: number;
}

/** The longest that was asked for; 0: the service has no leases. */
export function longestTtlOf({ operations }: LockRecord): Millis {
  return millis(operations.reduce((longest, { ttlMillis = 0 }) => Math.max(longest, ttlMillis), 0));
}

/** `healed`: by then every fault had ended that may hold up a request. */
export function leasesOf(history: History, lock: LockRecord, healed: number): Lease[] {
  const { operations, grants, downs } = lock;
  const ttlLongest = longestTtlOf(lock);
  const leases: Lease[] = [];
  for (const operation of operations) {
    const { op, process, completed, outcome, ttlMillis } = operation;
    if (outcome === 'fail') continue;
    const settled = completed ?? downs.get(process) ?? history.lastSeen.get(process) ?? Infinity;
    // One of unknown outcome may take effect as late as the service hears of it: when the last fault is over.
    const landed = outcome === 'info' && operation.invoked < healed ? Math.max(settled, healed) : settled;
    if (op === 'renew' || ttlMillis !== undefined)
      leases.push({ of: operation, over: landed + nanosOf(ttlMillis ?? ttlLongest) });
    else if (outcome === 'info') leases.push({ of: operation, over: downs.get(process) ?? Infinity });
  }
  for (const { acquire, process, leaseEnd, release, hold } of grants) {
    const released = release?.outcome === 'ok' ? release.completed : undefined;
    const ended = released ?? downs.get(process) ?? Infinity;
    if (leaseEnd === undefined) leases.push({ of: acquire, over: ended });
    // Its library may prolong the lease on the quiet, until it lets go.
    else if (released !== undefined) leases.push({ of: acquire, over: released });
    else if (history.header.meta.keptAlive === true)
      leases.push({
        of: acquire,
        over: (hold.endedBy === 'lost' ? hold.end : ended) + nanosOf(ttlLongest),
      });
  }
  // Where the journal of a process stops before its end, nobody knows what it had from then on (I1).
  if (history.header.meta.closedByDown === true)
    for (const of of new Map(operations.map((operation) => [operation.process, operation])).values())
      if (!downs.has(of.process)) leases.push({ of, over: Infinity });
  return leases;
}

/** Of the backend, in nanoseconds. */
export function slackOf({ header }: Pick<History, 'header'>): number {
  const { slackMillis } = header.meta;
  return nanosOf(slackMillis === undefined ? DEFAULT_SLACK_MILLIS : millis(slackMillis));
}

/** When a lock must be had again that nobody holds from `from` on: after the slack, and again after each stall of ours. */
export function dueAfter(from: number, slack: number, stalls: readonly Interval[]): number {
  return stalls.reduce<number>(
    (due, { start, end }) => (start < due ? Math.max(due, end + slack) : due),
    from + slack,
  );
}

export function metAny({ invoked, completed }: Operation, spans: readonly Interval[]): boolean {
  return spans.some(({ start, end }) => invoked <= end && (completed ?? Infinity) >= start);
}

/** `The last lease on k1 that anybody may have had, by c1's acquire (op 7, info) at 1.204 s, was over by 2.704 s` */
export function lastLeasePhrase(lock: string, last: Lease | undefined): string {
  if (last === undefined) return `Nobody had been granted ${lock}`;
  const { process, op, id, outcome, invoked } = last.of;
  return (
    `The last lease on ${lock} that anybody may have had, by ${process}'s ${op} ` +
    `(op ${id}, ${outcome}) at ${seconds(invoked)}, was over by ${seconds(last.over)}`
  );
}
