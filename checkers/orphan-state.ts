// Rule `orphan-state` (2.3 of the design): nobody live holds the lock, and still it can't be had within TTL + the
// backend's documented slack; later it can. So something was left in the service that no client owned, for longer than any
// lease could last. (What never goes is a `stuck-lock`, which `liveness.ts` has.)
//
// The proof is two attempts that were answered `busy`: the first when every lease that anybody may have had was over and
// every fault had ended, the second a TTL and the slack later, with none in between that may have taken the lock. Why not
// the first alone: an attempt that fails may hold the lock for a moment, or leave votes behind for a TTL, and so may the
// attempt beside it that it lost to. An acquire in flight counts as a lease, whatever becomes of it. O(n log n).

import type { Acquire, History } from '../harness/history/history.ts';
import type { Grant, Grants, Interval } from '../harness/history/grants.ts';
import { nanosOf, type Nanos } from '../harness/history/op.ts';
import { NEVER, Op, textAt } from '../harness/history/operation-columns.ts';
import { stallsOf } from '../harness/history/stalls.ts';
import { findingOf, inOrder } from './finding.ts';
import {
  dueAfter,
  lastLeasePhrase,
  leasesOf,
  lockRecordsOf,
  longestTtlOf,
  metAny,
  slackOf,
  surelyHadUntil,
  type Lease,
  type LockRecord,
} from './possible-leases.ts';
import { resultOf, type Finding, type RuleResult } from './verdict.ts';
import { seconds } from './wording.ts';

type Code = 'orphan-state';

export function orphanState(history: History, grants: Grants): RuleResult<Code> {
  const stalls = stallsOf(history);
  const findings: Finding<Code>[] = [];
  for (const lock of lockRecordsOf(history, grants, busyForLong(history, grants))) {
    const refusals = refusedToAll(history, lock, stalls);
    const next = refusals && grantAfter(lock, refusals.final.completed);
    if (refusals !== undefined && next !== undefined) findings.push(orphan(history, refusals, next));
  }
  return resultOf(inOrder(findings));
}

/** Locks that were busy for longer than the slack, and nobody asked meanwhile who was given them. */
function busyForLong(history: History, grants: Grants): ReadonlySet<number> {
  const { columns } = history;
  const { size, op, lock, locks, invoked } = columns;
  const slack = slackOf(history);
  const hadUntil = surelyHadUntil(history, grants);
  const since = new Float64Array(locks.length).fill(NEVER);
  const busy = new Set<number>();
  for (let row = 0; row < size; row++) {
    if (op[row] !== Op.acquire) continue;
    const number = lock[row] ?? 0;
    const now = invoked[row] ?? 0;
    if ((hadUntil[row] ?? 0) > -Infinity) since[number] = now;
    if (textAt(columns, row, 'error') !== 'busy') continue;
    since[number] = Math.min(since[number] ?? 0, now);
    if (now >= (since[number] ?? 0) + slack) busy.add(number);
  }
  return busy;
}

type Refused = Acquire & { readonly completed: Nanos };

/** Attempts from `first` to `final` that were all refused though nobody may have held the lock. */
interface Refusals {
  readonly first: Refused;
  final: Refused;
  count: number;
  readonly due: number;
  readonly last: Lease | undefined;
}

/** The first such attempts of which the last came when the lock was due. */
function refusedToAll(history: History, lock: LockRecord, stalls: readonly Interval[]): Refusals | undefined {
  const slack = slackOf(history);
  const ttl = nanosOf(longestTtlOf(lock));
  const held = mayBeHeld(history, lock, ttl);
  let run: Refusals | undefined;
  let proved = false;
  for (const attempt of busyOf(lock, stalls)) {
    const { until, last } = held(attempt.completed);
    if (run !== undefined && run.first.invoked < until) {
      if (proved) return run;
      run = undefined;
    }
    if (run === undefined) {
      const due = dueAfter(attempt.invoked + ttl, slack, stalls);
      run = { first: attempt, final: attempt, count: 1, due, last };
    } else {
      run.final = attempt;
      run.count += 1;
      proved ||= attempt.invoked >= run.due;
    }
  }
  return proved ? run : undefined;
}

/** In the order of their answers. */
function busyOf({ operations }: LockRecord, stalls: readonly Interval[]): readonly Refused[] {
  return operations
    .filter((operation): operation is Refused => operation.op === 'acquire' && operation.error === 'busy')
    .filter((attempt) => !metAny(attempt, stalls))
    .toSorted((a, b) => a.completed - b.completed);
}

/** To be asked for times that do not go back: until when somebody may hold the lock, of all that was sent by then. */
function mayBeHeld(
  history: History,
  lock: LockRecord,
  ttl: number,
): (time: Nanos) => { readonly until: number; readonly last: Lease | undefined } {
  const leases = leasesOf(history, lock, 0).toSorted((a, b) => a.of.invoked - b.of.invoked);
  const faults = history.faults.toSorted((a, b) => a.begin - b.begin);
  let [nextLease, nextFault, healed] = [0, 0, 0];
  let last: Lease | undefined;
  let unknownSince = Infinity;
  return (time) => {
    for (let lease = leases[nextLease]; lease && lease.of.invoked <= time; lease = leases[++nextLease]) {
      if (last === undefined || lease.over > last.over) last = lease;
      if (lease.of.outcome === 'info') unknownSince = Math.min(unknownSince, lease.of.invoked);
    }
    for (let fault = faults[nextFault]; fault && fault.begin <= time; fault = faults[++nextFault])
      healed = Math.max(healed, fault.end ?? Infinity);
    // What nobody answered may take effect as late as the last fault ends.
    const landed = unknownSince < healed ? healed + ttl : healed;
    return { until: Math.max(last?.over ?? 0, landed), last };
  };
}

function grantAfter({ grants }: LockRecord, time: Nanos): Grant | undefined {
  return grants.find(({ acquire }) => (acquire.completed ?? 0) > time);
}

function orphan(history: History, { first, final, count, due, last }: Refusals, next: Grant): Finding<Code> {
  const blockedBy = last === undefined ? [] : [last.of];
  const { acquire, process } = next;
  return findingOf(history, {
    code: 'orphan-state',
    lock: first.lock,
    processes: [...new Set([...blockedBy.map((of) => of.process), first.process, final.process, process])],
    ops: [...blockedBy.map(({ id }) => id), first.id, final.id, acquire.id],
    since: last?.of.invoked ?? first.invoked,
    at: final.completed,
    story:
      `${lastLeasePhrase(first.lock, last)}. Still ${first.process} was told at ${seconds(first.completed)} that it was ` +
      `busy (op ${first.id}), and so was everybody who asked, ${count} times, to ${seconds(final.completed)} ` +
      `(op ${final.id}); it was due at ${seconds(due)}. ${process} was granted it at ` +
      `${seconds(acquire.completed ?? acquire.invoked)} (op ${acquire.id}): until then something was left that no client owned.`,
    evidence: { dueNanos: due, attempts: count, blockedByOp: last?.of.id },
  });
}
