// Rule `starved` (2.3 of the design): a client kept asking for a lock and never had it, though the lock was free again and
// again: it went to others, who all asked later. Held against the same bound as every rule of liveness: no fault since the
// slack before it began to ask, and it asked for longer than TTL + slack.
//
// How often is too often is a convention: `PASSED_EACH` times as often as there are clients that want the lock. Where each
// of n has the same chance at each grant, one is passed 20 n times in a row with a probability of (1 - 1/n)^20n < e^-20,
// two in a thousand million; so it is no bad luck. A client that gets the lock in the end, however late, is not starved:
// how long it waited is a measure (`handover.ts`). O(n log n + processes × grants).

import type { Acquire, History } from '../harness/history/history.ts';
import type { Grant, Grants, Interval } from '../harness/history/grants.ts';
import { millis, nanos, nanosOf, type Nanos } from '../harness/history/op.ts';
import { Came, holdersOf, NEVER, Op } from '../harness/history/operation-columns.ts';
import { stallsOf } from '../harness/history/stalls.ts';
import { faultsWithin, findingOf, inOrder } from './finding.ts';
import { lockRecordsOf, longestTtlOf, slackOf, type LockRecord } from './possible-leases.ts';
import { resultOf, type Finding, type RuleResult } from './verdict.ts';
import { list, seconds } from './wording.ts';

type Code = 'starved';

const PASSED_EACH = 20;
/** Who does not ask again within a TTL, or this where there are none, has stopped asking. */
const STILL_ASKING_NANOS = nanosOf(millis(1_000));

export function starvation(history: History, grants: Grants): RuleResult<Code> {
  const stalls = stallsOf(history);
  const findings: Finding<Code>[] = [];
  for (const lock of lockRecordsOf(history, grants, refusedForLong(history))) {
    const bound = nanosOf(longestTtlOf(lock)) + slackOf(history);
    const found = askedInVain(lock)
      .filter(({ first, last }) => last.completed - first.invoked > bound)
      .filter((asking) => isUndisturbed(history, asking, stalls))
      .flatMap((asking) => starved(history, asking, passedBy(lock, asking)) ?? []);
    // One of each process.
    for (const [one] of Map.groupBy(found, ({ processes: [process] }) => process).values())
      if (one !== undefined) findings.push(one);
  }
  return resultOf(inOrder(findings));
}

/** Locks that were refused to some process, and not given to it meanwhile, for longer than the slack. */
function refusedForLong(history: History): ReadonlySet<number> {
  const { columns } = history;
  const { size, op, outcome, lock, invoked, completed } = columns;
  const slack = slackOf(history);
  const holders = holdersOf(columns);
  /** By holder: when the first of its attempts was invoked that were all refused. */
  const since = new Float64Array(holders.count).fill(NEVER);
  const locks = new Set<number>();
  for (let row = 0; row < size; row++) {
    if (op[row] !== Op.acquire) continue;
    const holder = holders.of[row] ?? 0;
    if (outcome[row] !== Came.fail) since[holder] = NEVER;
    else since[holder] = Math.min(since[holder] ?? 0, invoked[row] ?? 0);
    if ((completed[row] ?? 0) - (since[holder] ?? 0) > slack) locks.add(lock[row] ?? 0);
  }
  return locks;
}

type Answered = Acquire & { readonly completed: Nanos };

/** Attempts of one process, one after the other without a break, that were all refused. */
interface Asking {
  readonly first: Answered;
  last: Answered;
  tries: number;
}

/** Those that did not end with a grant, nor with an attempt of unknown outcome, which may have been one. */
function askedInVain(lock: LockRecord): readonly Asking[] {
  const pause = nanosOf(longestTtlOf(lock)) || STILL_ASKING_NANOS;
  const asking = new Map<string, Asking>();
  const inVain: Asking[] = [];
  for (const operation of lock.operations) {
    if (operation.op !== 'acquire') continue;
    const current = asking.get(operation.process);
    if (!isRefused(operation)) asking.delete(operation.process);
    else if (current !== undefined && operation.invoked - current.last.completed <= pause) {
      current.last = operation;
      current.tries += 1;
    } else {
      if (current !== undefined) inVain.push(current);
      asking.set(operation.process, { first: operation, last: operation, tries: 1 });
    }
  }
  return [...inVain, ...asking.values()];
}

function isRefused(acquire: Acquire): acquire is Answered {
  return acquire.outcome === 'fail' && acquire.completed !== undefined;
}

function isUndisturbed(history: History, { first, last }: Asking, stalls: readonly Interval[]): boolean {
  const from = nanos(first.invoked - slackOf(history));
  return (
    faultsWithin(history, from, last.completed).length === 0 &&
    !stalls.some(({ start, end }) => start <= last.completed && end >= first.invoked)
  );
}

/** Grants, none of them its own, that were asked for after it had begun to ask and made before it stopped. */
function passedBy({ grants }: LockRecord, { first, last }: Asking): readonly Grant[] {
  return grants.filter(
    ({ acquire: { invoked, completed = invoked } }) => invoked > first.invoked && completed < last.completed,
  );
}

function starved(
  history: History,
  { first, last, tries }: Asking,
  passed: readonly Grant[],
): Finding<Code> | undefined {
  const others = [...new Set(passed.map(({ process }) => process))].toSorted();
  const [nearest, furthest] = [passed[0], passed.at(-1)];
  if (nearest === undefined || furthest === undefined) return undefined;
  if (passed.length < PASSED_EACH * (others.length + 1)) return undefined;
  const { process, lock } = first;
  return findingOf(history, {
    code: 'starved',
    lock,
    processes: [process, ...others],
    ops: [...new Set([first.id, last.id, nearest.acquire.id, furthest.acquire.id])],
    since: first.invoked,
    at: last.completed,
    story:
      `${process} asked for ${lock} from ${seconds(first.invoked)} (op ${first.id}) to ${seconds(last.completed)} ` +
      `(op ${last.id}), ${tries} times, and never had it. Meanwhile it was granted ${passed.length} times to ` +
      `${list(others)}, who asked later: first op ${nearest.acquire.id}, last op ${furthest.acquire.id}.`,
    evidence: { tries, passed: passed.length, forNanos: last.completed - first.invoked },
  });
}
