// Rule `starved` (2.3 of the design): a client kept asking for a lock and never had it, though the lock was free again and
// again: it went to others, who all asked later. Held against the same bound as every rule of liveness: no fault since the
// slack before it began to ask, and it asked for longer than TTL + slack.
//
// How often is too often is a convention: `PASSED_EACH` times as often as there are clients that want the lock. Where each
// of n has the same chance at each grant, one is passed 20 n times in a row with a probability of (1 - 1/n)^20n < e^-20,
// two in a thousand million; so it is no bad luck. But it must have had these chances: an attempt that does not wait has
// one, however often others are granted the lock before the next, and none if nobody was since the one before; a holder
// that comes in again takes nobody's. Only what was answered `busy` is an attempt in vain: who could not reach the service,
// or was refused for a reason of its own, was not passed by others. A client that gets the lock in the end, however late,
// is not starved: how long it waited is a measure (`handover.ts`).
// O(n log n + processes × grants).

import type { History } from '../harness/history/history.ts';
import type { Grant, Grants, Interval } from '../harness/history/grants.ts';
import { millis, nanos, nanosOf } from '../harness/history/op.ts';
import {
  acquireAt,
  Came,
  holdersOf,
  NONE,
  Op,
  textAt,
  timeAt,
  type OperationColumns,
} from '../harness/history/operation-columns.ts';
import { partitionPoint } from '../harness/history/sorted.ts';
import { stallsOf } from '../harness/history/stalls.ts';
import { faultsWithin, findingOf, inOrder } from './finding.ts';
import { slackOf } from './possible-leases.ts';
import { resultOf, type Finding, type RuleResult } from './verdict.ts';
import { list, seconds } from './wording.ts';

type Code = 'starved';

const PASSED_EACH = 20;
/** Who does not ask again within a TTL, or this where there are none, has stopped asking. */
const STILL_ASKING_NANOS = nanosOf(millis(1_000));

/** One finding of each process and lock. */
export function starvation(history: History, grants: Grants): RuleResult<Code> {
  const stalls = stallsOf(history);
  const reentered = reentriesOf(history, grants);
  const findings = new Map<number, Finding<Code>>();
  for (const asking of askedInVain(history)) {
    if (findings.has(asking.holder) || !isUndisturbed(history, asking, stalls)) continue;
    const passed = passedBy(history, grants, asking).filter((place) => reentered[place] !== 1);
    const others = new Set(passed.map((place) => grants.process[place]));
    const often = PASSED_EACH * (others.size + 1);
    if (passed.length < often || chancesOf(history, grants, asking, passed) < often) continue;
    findings.set(asking.holder, starved(history, asking, passed.map(grants.at)));
  }
  return resultOf(inOrder([...findings.values()]));
}

/** Attempts of one process, one after the other without a break, that were answered `busy`; nor was any other granted. */
interface Asking {
  /** Number of its process and lock together. */
  readonly holder: number;
  /** Their rows. */
  readonly first: number;
  readonly last: number;
  readonly tries: number;
}

/**
 * Those that lasted longer than TTL and slack, and did not end with a grant, nor with an attempt of unknown outcome, which
 * may have been one. Of one process in order.
 */
function* askedInVain(history: History): Generator<Asking> {
  const { columns } = history;
  const { size, op, outcome, lock, invoked, completed } = columns;
  const slack = slackOf(history);
  const ttls = longestTtls(history);
  const holders = holdersOf(columns);
  const first = new Int32Array(holders.count).fill(NONE);
  const last = new Int32Array(holders.count);
  const tries = new Int32Array(holders.count);
  const endOf = function* (holder: number): Generator<Asking> {
    const [from, to] = [first[holder] ?? NONE, last[holder] ?? 0];
    if (from === NONE) return;
    if ((completed[to] ?? 0) - (invoked[from] ?? 0) > (ttls[lock[from] ?? 0] ?? 0) + slack)
      yield { holder, first: from, last: to, tries: tries[holder] ?? 0 };
  };
  for (let row = 0; row < size; row++) {
    if (op[row] !== Op.acquire) continue;
    const holder = holders.of[row] ?? 0;
    if (outcome[row] !== Came.fail) first[holder] = NONE;
    if (!isInVain(columns, row)) continue;
    const pause = (invoked[row] ?? 0) - (completed[last[holder] ?? 0] ?? 0);
    if (first[holder] === NONE || pause > (ttls[lock[row] ?? 0] || STILL_ASKING_NANOS)) {
      yield* endOf(holder);
      first[holder] = row;
      tries[holder] = 0;
    }
    last[holder] = row;
    tries[holder] = (tries[holder] ?? 0) + 1;
  }
  for (let holder = 0; holder < holders.count; holder++) yield* endOf(holder);
}

/** Refused because the lock was another's. */
function isInVain(columns: OperationColumns, row: number): boolean {
  return columns.outcome[row] === Came.fail && textAt(columns, row, 'error') === 'busy';
}

/** By number of the lock: the longest that was asked for, in nanoseconds; 0: the service has no leases. */
function longestTtls({ columns }: History): Float64Array {
  const { size, lock, locks, ttlMillis } = columns;
  const longest = new Float64Array(locks.length);
  for (let row = 0; row < size; row++) {
    const ttl = nanosOf(millis(timeAt(ttlMillis, row) ?? 0));
    const number = lock[row] ?? 0;
    longest[number] = Math.max(longest[number] ?? 0, ttl);
  }
  return longest;
}

function isUndisturbed(history: History, { first, last }: Asking, stalls: readonly Interval[]): boolean {
  const { invoked, completed } = history.columns;
  const [asked, answered] = [nanos(invoked[first] ?? 0), nanos(completed[last] ?? 0)];
  return (
    faultsWithin(history, nanos(asked - slackOf(history)), answered).length === 0 &&
    !stalls.some(({ start, end }) => start <= answered && end >= asked)
  );
}

/** By place: 1 if it was granted to who had the lock already when it asked. */
function reentriesOf({ columns }: History, { size, acquire, process, lock, holdEnd }: Grants): Uint8Array {
  const { invoked, locks } = columns;
  const reentered = new Uint8Array(size);
  /** By process and lock: until when it had it. */
  const hadUntil = new Map<number, number>();
  for (let place = 0; place < size; place++) {
    const holder = (process[place] ?? 0) * locks.length + (lock[place] ?? 0);
    const until = hadUntil.get(holder) ?? -Infinity;
    if ((invoked[acquire[place] ?? 0] ?? 0) < until) reentered[place] = 1;
    hadUntil.set(holder, Math.max(until, holdEnd[place] ?? 0));
  }
  return reentered;
}

/** The places of grants, none of them its own, that were asked for after it had begun to ask and made before it stopped. */
function passedBy(
  { columns }: History,
  { acquire, ofLock }: Grants,
  { first, last }: Asking,
): readonly number[] {
  const { invoked, completed, lock } = columns;
  const places = ofLock[lock[first] ?? 0] ?? new Int32Array();
  const rowOf = (index: number): number => acquire[places[index] ?? 0] ?? 0;
  const begun = invoked[first] ?? 0;
  const answeredBy = (time: number) => (index: number) => (completed[rowOf(index)] ?? 0) < time;
  const from = partitionPoint(places.length, answeredBy(begun));
  const to = partitionPoint(places.length, answeredBy(completed[last] ?? 0));
  const passed: number[] = [];
  for (let index = from; index < to; index++)
    if ((invoked[rowOf(index)] ?? 0) > begun) passed.push(places[index] ?? 0);
  return passed;
}

/**
 * Of each attempt one for each of the grants that were asked for while it waited; else one, if the lock was granted since
 * the attempt before. `passed` are in order of answer.
 */
function chancesOf(
  { columns }: History,
  { acquire }: Grants,
  { holder, first, last }: Asking,
  passed: readonly number[],
): number {
  const { op, invoked, completed } = columns;
  const { of: holders } = holdersOf(columns);
  const asked = Float64Array.from(passed, (place) => invoked[acquire[place] ?? 0] ?? 0).sort();
  const given = Float64Array.from(passed, (place) => completed[acquire[place] ?? 0] ?? 0);
  let chances = 0;
  let givenBefore = 0;
  for (let row = first; row <= last; row++) {
    if (op[row] !== Op.acquire || holders[row] !== holder || !isInVain(columns, row)) continue;
    const [from, to] = [invoked[row] ?? 0, completed[row] ?? 0];
    const givenBy = countBefore(given, to);
    const waited = countBefore(asked, to) - countBefore(asked, from);
    chances += Math.max(Math.min(givenBy - givenBefore, 1), waited);
    givenBefore = givenBy;
  }
  return chances;
}

/** How many of these times, which ascend, are before that one. */
function countBefore(times: Float64Array, time: number): number {
  return partitionPoint(times.length, (index) => (times[index] ?? 0) < time);
}

function starved(history: History, asking: Asking, passed: readonly Grant[]): Finding<Code> {
  const first = acquireAt(history.columns, asking.first);
  const last = acquireAt(history.columns, asking.last);
  const { completed = last.invoked } = last;
  const { process, lock } = first;
  const others = [...new Set(passed.map((grant) => grant.process))].toSorted();
  const [nearest, furthest] = [passed[0]?.acquire ?? first, passed.at(-1)?.acquire ?? last];
  return findingOf(history, {
    code: 'starved',
    lock,
    processes: [process, ...others],
    ops: [...new Set([first.id, last.id, nearest.id, furthest.id])],
    since: first.invoked,
    at: completed,
    story:
      `${process} asked for ${lock} from ${seconds(first.invoked)} (op ${first.id}) to ${seconds(completed)} ` +
      `(op ${last.id}), was told ${asking.tries} times that it was busy, and never had it. Meanwhile it was granted ${passed.length} times to ` +
      `${list(others)}, who asked later: first op ${nearest.id}, last op ${furthest.id}.`,
    evidence: { tries: asking.tries, passed: passed.length, forNanos: completed - first.invoked },
  });
}
