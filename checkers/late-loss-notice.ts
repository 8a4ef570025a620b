// Rule `late-loss-notice` (2.3 of the design): a client whose library keeps its grants alive by itself, and so is the one
// to tell when one ends, went on believing for too long after another process had been granted the lock.
//
// Proof, for a grant G: another process was granted the lock while G's client believed and no tenure of G was certain
// any more; and it was the end of a tenure, for the client was told so in the end (`lost`), or its release or renew was
// answered that the lock was no longer its own. Time for which its container was paused does not count: a client that
// stands still cannot be told. What is left must be longer than half the TTL, and than half a second, so that neither a
// busy machine nor a slow timer is blamed on a library.
//
// Why not where a grant has no keeper: a client that was only given a lease has nobody to be late. Why another grant:
// without one nobody can say when a lease that may have been prolonged unseen has ended, and nobody was in danger.
// O(n log n).

import type { FaultSpan, History } from '../harness/history/history.ts';
import type { Grant, Grants } from '../harness/history/grants.ts';
import { bothShare, permitsOf } from '../harness/history/kinds.ts';
import { millis, nanosOf, type Nanos } from '../harness/history/op.ts';
import { partitionPoint } from '../harness/history/sorted.ts';
import { faultsWithin, findingOf, hits, inOrder } from './finding.ts';
import { meetingGrants } from './meeting-grants.ts';
import { resultOf, type Finding, type RuleResult } from './verdict.ts';
import { faultClause, grantPhrase, seconds } from './wording.ts';

/** Past the end of a tenure, as a fraction of the TTL, and never less than `MARGIN_NANOS_MIN`. */
const MARGIN_OF_TTL = 0.5;
const MARGIN_NANOS_MIN = nanosOf(millis(500));
/** Faults that make a process stand still. */
const STANDSTILLS: ReadonlySet<string> = new Set(['pause', 'freeze']);

export function lateLossNotice(history: History, grants: Grants): RuleResult<'late-loss-notice'> {
  const findings: Finding<'late-loss-notice'>[] = [];
  // Another grant says nothing of this one where both may be in force.
  if (permitsOf(history.header.meta) > 1) return resultOf(findings);
  for (const meeting of meetingGrants(grants, 1)) {
    const nextToOther = othersAfter(meeting);
    for (const grant of meeting) {
      const next = nextDuringHold(grant, meeting, nextToOther);
      const finding =
        next === undefined || bothShare(grant.acquire, next.acquire)
          ? undefined
          : lateness(history, grant, next);
      if (finding !== undefined) findings.push(finding);
    }
  }
  return resultOf(inOrder(findings));
}

/** Of each grant the position of the next one to another process. */
function othersAfter(meeting: readonly Grant[]): Int32Array {
  const next = new Int32Array(meeting.length).fill(meeting.length);
  for (let index = meeting.length - 2; index >= 0; index--)
    next[index] =
      meeting[index + 1]?.process === meeting[index]?.process ? (next[index + 1] ?? 0) : index + 1;
  return next;
}

/** The first grant to another process that was answered after the certain tenure and during the hold. O(log n). */
function nextDuringHold(
  { process, hold, tenure }: Grant,
  meeting: readonly Grant[],
  nextToOther: Int32Array,
): Grant | undefined {
  const over = Math.max(hold.start, tenure.end);
  if (over >= hold.end) return undefined;
  // Holds begin in the order of grants.
  const first = partitionPoint(meeting.length, (index) => (meeting[index]?.hold.start ?? 0) <= over);
  const other = meeting[meeting[first]?.process === process ? (nextToOther[first] ?? 0) : first];
  return other !== undefined && other.hold.start < hold.end ? other : undefined;
}

function lateness(history: History, grant: Grant, next: Grant): Finding<'late-loss-notice'> | undefined {
  const { meta } = history.header;
  const { process, lock, acquire, hold, renewals } = grant;
  const told = toldBy(grant);
  if (told === undefined || (meta.keptAlive !== true && renewals.length === 0)) return undefined;
  const window = { start: next.hold.start, end: hold.end };
  const paused = pausedWithin(history, process, window);
  const lateNanos = window.end - window.start - paused;
  const marginNanos = Math.max(MARGIN_NANOS_MIN, nanosOf(millis((acquire.ttlMillis ?? 0) * MARGIN_OF_TTL)));
  if (lateNanos <= marginNanos) return undefined;
  const stood = paused === 0 ? '' : `, not counting ${seconds(paused)} for which it may have been paused`;
  return findingOf(history, {
    code: 'late-loss-notice',
    lock,
    processes: [process, next.process],
    ops: [acquire.id, next.acquire.id, ...told.ops],
    since: acquire.invoked,
    at: hold.end,
    story:
      `${grantPhrase(grant)}${faultClause(history, process, acquire.invoked, hold.end)}. ` +
      `${grantPhrase(next)}, so the tenure of ${process} was over by then, and ${told.how}. ` +
      `It went on believing until ${seconds(hold.end)}: at least ${seconds(lateNanos)} too long${stood}.`,
    evidence: { zombieNanos: lateNanos, pausedNanos: paused, marginNanos, window },
  });
}

/** What shows that it was the end of a tenure, and not a lock that was given twice. */
function toldBy({ hold, release, renewals }: Grant): { how: string; ops: readonly number[] } | undefined {
  if (release?.released === false)
    return { how: `its release (op ${release.id}) found the lock gone`, ops: [release.id] };
  const refused = renewals.find(({ outcome, error }) => outcome === 'fail' && error === 'not-owner');
  if (refused !== undefined) return { how: `its renewal (op ${refused.id}) was refused`, ops: [refused.id] };
  if (hold.endedBy === 'lost') return { how: 'its library said so in the end', ops: [] };
  return undefined;
}

/** How long the process stood still within the window. Overlapping pauses count once. */
function pausedWithin(history: History, process: string, window: { start: Nanos; end: Nanos }): number {
  const pauses = faultsWithin(history, window.start, window.end)
    .filter((fault) => STANDSTILLS.has(fault.fault) && hits(fault, process))
    .toSorted((a, b) => a.begin - b.begin);
  let total = 0;
  let counted: number = window.start;
  for (const { begin, end = window.end } of pauses satisfies FaultSpan[]) {
    const from = Math.max(begin, counted);
    const to = Math.min(end, window.end);
    if (to > from) total += to - from;
    counted = Math.max(counted, to);
  }
  return total;
}
