// Rules `stuck-lock` and `not-reacquired` (2.3 of the design): nobody live holds the lock, and still it can't be had
// within TTL + the backend's documented slack after the last heal. A claim looks only at attempts after the time by
// which every lease that anybody may have had is over; a grant among them is such a lease, so it ends the claim.
//
// `stuck-lock`: all were answered `busy`, so something is left behind that never ends. `not-reacquired`: others failed
// too, for a while. Why not count from the last release: an acquire of unknown outcome may hold the lock for a TTL from
// then on, and so may a renew. For `not-reacquired` one that was sent after the heal does not count as that: it is the
// very sign of a service that does not answer. Where the harness itself stalled nothing is claimed: the service gets its
// slack again after the stall, and no attempt that met one counts. O(n) for each stall.

import type { Acquire, History, Operation, Renew } from '../harness/history/history.ts';
import type { Grant, Interval } from '../harness/history/grants.ts';
import { millis, nanosOf } from '../harness/history/op.ts';
import { stallsOf } from '../harness/history/stalls.ts';
import { findingOf, inOrder } from './finding.ts';
import { resultOf, type Finding, type RuleResult } from './verdict.ts';
import { list, seconds } from './wording.ts';

const DEFAULT_SLACK_MILLIS = millis(1_000);
/** A lock is called `not-reacquired` only if it could not be had for this long: one time-out is no proof. */
const PERSISTENT_NANOS = nanosOf(millis(1_000));

type Code = 'stuck-lock' | 'not-reacquired';

/** `unknown` if a fault never ended: then nobody knows what the lock would have done after it. */
export function liveness(history: History, grants: readonly Grant[]): RuleResult<Code> {
  const open = history.faults.find(({ end }) => end === undefined);
  if (open !== undefined)
    return { verdict: 'unknown', reason: `fault ${open.id} did not end in this history` };
  const claims = Map.groupBy(
    history.operations.filter((operation) => operation.op === 'acquire' || operation.op === 'renew'),
    ({ lock }) => lock,
  );
  const grantsByLock = Map.groupBy(grants, ({ lock }) => lock);
  const downs = new Map(history.downs.map(({ process, time }) => [process, time]));
  const stalls = stallsOf(history);
  const findings: Finding<Code>[] = [];
  const doubtful: string[] = [];
  for (const [lock, operations] of claims) {
    const record = { operations, grants: grantsByLock.get(lock) ?? [], downs };
    const finding = unavailable(history, record, stalls);
    if (finding !== undefined) findings.push(finding);
    else if (stalls.length > 0 && unavailable(history, record, []) !== undefined) doubtful.push(lock);
  }
  if (findings.length === 0 && doubtful.length > 0)
    return {
      verdict: 'unknown',
      reason: `${list(doubtful)} could not be had in time, but lockpick itself stood still meanwhile`,
    };
  return resultOf(inOrder(findings));
}

/** An operation that may have left the lock held, and the time by which that is over; Infinity: nobody knows. */
interface Lease {
  readonly of: Acquire | Renew;
  readonly over: number;
}

interface LockRecord {
  readonly operations: readonly (Acquire | Renew)[];
  readonly grants: readonly Grant[];
  /** When each process that ended did. */
  readonly downs: ReadonlyMap<string, number>;
}

function leasesOf(history: History, { operations, grants, downs }: LockRecord, healed: number): Lease[] {
  const ttlLongest = operations.reduce((longest, { ttlMillis = 0 }) => Math.max(longest, ttlMillis), 0);
  const leases: Lease[] = [];
  for (const operation of operations) {
    const { op, process, completed, outcome, ttlMillis } = operation;
    if (outcome === 'fail') continue;
    const settled = completed ?? downs.get(process) ?? history.lastSeen.get(process) ?? Infinity;
    // One of unknown outcome may take effect as late as the service hears of it: when the last fault is over.
    const landed = outcome === 'info' && operation.invoked < healed ? Math.max(settled, healed) : settled;
    if (op === 'renew' || ttlMillis !== undefined)
      leases.push({ of: operation, over: landed + nanosOf(millis(ttlMillis ?? ttlLongest)) });
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
        over: (hold.endedBy === 'lost' ? hold.end : ended) + nanosOf(millis(ttlLongest)),
      });
  }
  return leases;
}

function lastOf(leases: Iterable<Lease>): Lease | undefined {
  let last: Lease | undefined;
  for (const lease of leases) if (last === undefined || lease.over > last.over) last = lease;
  return last;
}

/** When it must be had again, if nobody holds it from `from` on. */
function dueAfter(from: number, slack: number, stalls: readonly Interval[]): number {
  return stalls.reduce<number>(
    (due, { start, end }) => (start < due ? Math.max(due, end + slack) : due),
    from + slack,
  );
}

function unavailable(
  history: History,
  lock: LockRecord,
  stalls: readonly Interval[],
): Finding<Code> | undefined {
  const { slackMillis } = history.header.meta;
  const slack = nanosOf(slackMillis === undefined ? DEFAULT_SLACK_MILLIS : millis(slackMillis));
  const healed = history.faults.reduce((latest, { end = 0 }) => Math.max(latest, end), 0);
  const attempts = lock.operations.filter(
    (operation): operation is Acquire =>
      operation.op === 'acquire' && operation.completed !== undefined && !metAny(operation, stalls),
  );
  const leases = leasesOf(history, lock, healed);

  const last = lastOf(leases);
  const due = dueAfter(Math.max(healed, last?.over ?? 0), slack, stalls);
  const refused = attempts.filter(({ invoked }) => invoked >= due);
  if (refused.length > 0 && refused.every(({ error }) => error === 'busy'))
    return refusal(history, { code: 'stuck-lock', attempts: refused, last, due });

  const lastKnown = lastOf(leases.filter(({ of }) => of.outcome === 'ok' || of.invoked < healed));
  const dueKnown = dueAfter(Math.max(healed, lastKnown?.over ?? 0), slack, stalls);
  const failed = attempts.filter(({ invoked }) => invoked >= dueKnown);
  // `busy` may be the answer to a late acquire of unknown outcome, whose lease is not over yet.
  const unanswered = failed.filter(({ error }) => error !== 'busy');
  const lasted = (unanswered.at(-1)?.completed ?? 0) - (unanswered[0]?.invoked ?? 0);
  if (unanswered.length > 1 && lasted >= PERSISTENT_NANOS)
    return refusal(history, { code: 'not-reacquired', attempts: failed, last: lastKnown, due: dueKnown });
  return undefined;
}

function metAny({ invoked, completed }: Operation, spans: readonly Interval[]): boolean {
  return spans.some(({ start, end }) => invoked <= end && (completed ?? Infinity) >= start);
}

function refusal(
  history: History,
  claim: {
    readonly code: Code;
    readonly attempts: readonly Acquire[];
    readonly last: Lease | undefined;
    readonly due: number;
  },
): Finding<Code> | undefined {
  const { code, attempts, last, due } = claim;
  const [first, final] = [attempts[0], attempts.at(-1)];
  if (first === undefined || final?.completed === undefined) return undefined;
  const ops = [...(last === undefined ? [] : [last.of.id]), first.id, final.id];
  const answers = [...new Set(attempts.map(({ error, outcome }) => error ?? outcome))];
  const before =
    last === undefined
      ? `Nobody had been granted ${first.lock}`
      : `The last lease on ${first.lock} that anybody may have had, by ${last.of.process}'s ${last.of.op} ` +
        `(op ${last.of.id}, ${last.of.outcome}) at ${seconds(last.of.invoked)}, was over by ${seconds(last.over)}`;
  return findingOf(history, {
    code,
    lock: first.lock,
    processes: [
      ...new Set([...(last === undefined ? [] : [last.of.process]), ...attempts.map((a) => a.process)]),
    ],
    ops: [...new Set(ops)],
    since: last === undefined ? first.invoked : last.of.invoked,
    at: final.completed,
    story:
      `${before}${history.faults.length > 0 ? ', and every fault had ended' : ''}. From ${seconds(due)} on it was due, ` +
      `but none of ${attempts.length} attempts from ${seconds(first.invoked)} (op ${first.id}) to ${seconds(final.completed)} ` +
      `(op ${final.id}) succeeded: ${list(answers)}.`,
    evidence: { dueNanos: due, attempts: attempts.length, answers, blockedByOp: last?.of.id },
  });
}
