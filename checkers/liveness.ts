// Rules `stuck-lock` and `not-reacquired` (2.3 of the design): nobody live holds the lock, and still it can't be had
// within TTL + the backend's documented slack after the last heal. A claim looks only at attempts after the time by
// which every lease that anybody may have had is over; a grant among them is such a lease, so it ends the claim.
//
// `stuck-lock`: all were answered `busy`, so something is left behind that never ends. `not-reacquired`: others failed
// too, for a while. Why not count from the last release: an acquire of unknown outcome may hold the lock for a TTL from
// then on, and so may a renew. For `not-reacquired` one that was sent after the heal does not count as that: it is the
// very sign of a service that does not answer. Where the harness itself stalled nothing is claimed: the service gets its
// slack again after the stall, and no attempt that met one counts. O(n) for each stall.

import type { Acquire, History } from '../harness/history/history.ts';
import type { Grants, Interval } from '../harness/history/grants.ts';
import { millis, nanosOf } from '../harness/history/op.ts';
import { Op } from '../harness/history/operation-columns.ts';
import { stallsOf } from '../harness/history/stalls.ts';
import { findingOf, inOrder } from './finding.ts';
import {
  dueAfter,
  lastLeasePhrase,
  leasesOf,
  lockRecordsOf,
  metAny,
  slackOf,
  surelyHadUntil,
  type Lease,
  type LockRecord,
} from './possible-leases.ts';
import { resultOf, type Finding, type RuleResult } from './verdict.ts';
import { list, seconds } from './wording.ts';

/** A lock is called `not-reacquired` only if it could not be had for this long: one time-out is no proof. */
const PERSISTENT_NANOS = nanosOf(millis(1_000));

type Code = 'stuck-lock' | 'not-reacquired';

/** `unknown` if a fault never ended: then nobody knows what the lock would have done after it. */
export function liveness(history: History, grants: Grants): RuleResult<Code> {
  const open = history.faults.find(({ end }) => end === undefined);
  if (open !== undefined)
    return { verdict: 'unknown', reason: `fault ${open.id} did not end in this history` };
  const stalls = stallsOf(history);
  const findings: Finding<Code>[] = [];
  const doubtful: string[] = [];
  for (const record of lockRecordsOf(history, grants, askedLate(history, grants))) {
    const finding = unavailable(history, record, stalls);
    if (finding !== undefined) findings.push(finding);
    else if (stalls.length > 0 && unavailable(history, record, []) !== undefined) doubtful.push(record.lock);
  }
  if (findings.length === 0 && doubtful.length > 0)
    return {
      verdict: 'unknown',
      reason: `${list(doubtful)} could not be had in time, but lockpick itself stood still meanwhile`,
    };
  return resultOf(inOrder(findings));
}

/** Locks that were asked for when they were due, counted from the last heal and from when somebody surely had them. */
function askedLate(history: History, grants: Grants): ReadonlySet<number> {
  const { size, op, lock, locks, invoked } = history.columns;
  const hadUntil = surelyHadUntil(history, grants);
  const from = new Float64Array(locks.length).fill(healedAt(history));
  for (let row = 0; row < size; row++) {
    const number = lock[row] ?? 0;
    from[number] = Math.max(from[number] ?? 0, hadUntil[row] ?? 0);
  }
  const slack = slackOf(history);
  const late = new Set<number>();
  for (let row = 0; row < size; row++) {
    const number = lock[row] ?? 0;
    if (op[row] === Op.acquire && (invoked[row] ?? 0) >= (from[number] ?? 0) + slack) late.add(number);
  }
  return late;
}

function healedAt({ faults }: History): number {
  return faults.reduce((latest, { end = 0 }) => Math.max(latest, end), 0);
}

function lastOf(leases: Iterable<Lease>): Lease | undefined {
  let last: Lease | undefined;
  for (const lease of leases) if (last === undefined || lease.over > last.over) last = lease;
  return last;
}

function unavailable(
  history: History,
  lock: LockRecord,
  stalls: readonly Interval[],
): Finding<Code> | undefined {
  const slack = slackOf(history);
  const healed = healedAt(history);
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
      `${lastLeasePhrase(first.lock, last)}${history.faults.length > 0 ? ', and every fault had ended' : ''}. From ${seconds(due)} on it was due, ` +
      `but none of ${attempts.length} attempts from ${seconds(first.invoked)} (op ${first.id}) to ${seconds(final.completed)} ` +
      `(op ${final.id}) succeeded: ${list(answers)}.`,
    evidence: { dueNanos: due, attempts: attempts.length, answers, blockedByOp: last?.of.id },
  });
}
