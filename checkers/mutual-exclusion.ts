// Rules `double-grant` and `belief-overlap` (2.3 of the design): two processes had one lock at the same time.
//
// `double-grant`, the service gave the lock twice: a grant H was made while a tenure of G was certain. Either all of
// H's acquire lies inside the tenure, or the certain tenures of both meet: the service began each at some time before
// it was certain, so they met. (The second form is what catches a waiting acquire, which was invoked long before G's.)
// `belief-overlap`, the clients believed so: two holds meet, and the pair is no double grant.
// Two that share a lock do each other no wrong. Of a semaphore one more than it has permits must be in force at once:
// intervals of which each two meet all meet, so "with n others, when the last one was made" is exact there as well.
//
// Why not just "G was granted and not yet released when H was granted": of two acquires in flight at once either may
// have been first, and a lease that has run out, or may have, was given to H rightly. A sweep over answers, with at
// most one interval in force for each process and lock: O(n log n + findings), of which there are enough at some time.

import type { History } from '../harness/history/history.ts';
import { intersect, type Grant, type Grants, type Interval } from '../harness/history/grants.ts';
import { permitsOf } from '../harness/history/kinds.ts';
import { nanos, type JsonRecord, type Nanos } from '../harness/history/op.ts';
import { collector, findingOf, type Collector } from './finding.ts';
import { meetingGrants } from './meeting-grants.ts';
import type { Finding, RuleResult } from './verdict.ts';
import { faultClause, faultsAround, grantPhrase, list, seconds } from './wording.ts';

type Code = 'double-grant' | 'belief-overlap';

export function mutualExclusion(history: History, grants: Grants): RuleResult<Code> {
  const findings = collector<Code>();
  const permits = permitsOf(history.header.meta);
  for (const meeting of meetingGrants(grants, permits)) judgeMeeting(history, meeting, findings);
  return findings.result();
}

/** Grants of one lock, in order of answer. */
function judgeMeeting(history: History, grants: readonly Grant[], findings: Collector<Code>): void {
  const permits = permitsOf(history.header.meta);
  const tenures = nothing();
  const holds = nothing();
  for (const grant of grants) {
    const { lock } = grant;
    // A lock refuted so often: what its clients believed besides adds nothing.
    if (findings.hasEnough('double-grant', lock)) return;
    const doubled = new Set<Grant>();
    const held = meetingOthers(tenures, grant, tenureOf).filter(
      (earlier) => wasAskedInside(grant, earlier, history) || intersect(earlier.tenure, grant.tenure),
    );
    for (const others of crowds(held, permits)) {
      for (const other of others) doubled.add(other);
      findings.add('double-grant', lock, () => doubleGrant(history, others, grant));
    }
    if (findings.hasEnough('belief-overlap', lock)) continue;
    const believed = meetingOthers(holds, grant, holdOf).filter((earlier) =>
      intersect(earlier.hold, grant.hold),
    );
    for (const others of crowds(believed, permits))
      if (!others.every((other) => doubled.has(other)))
        findings.add('belief-overlap', lock, () => beliefOverlap(history, others, grant));
  }
}

const tenureOf = ({ tenure }: Grant): Interval => tenure;
const holdOf = ({ hold }: Grant): Interval => hold;

/** Of each process on one lock, the grant whose interval reaches furthest, as long as it may still reach another. */
interface InForce {
  readonly alone: Map<string, Grant>;
  readonly sharing: Map<string, Grant>;
}

function nothing(): InForce {
  return { alone: new Map(), sharing: new Map() };
}

/** As many of `others`, who were there at once, as make one too many of the next; each is in one such crowd at least. */
function* crowds(others: readonly Grant[], permits: number): Generator<readonly Grant[]> {
  for (let end = permits; end <= others.length; end++) yield others.slice(end - permits, end);
}

/**
 * The grants of other processes in whose intervals this one was answered, and with whom it does not share the lock.
 * Adds it to them, and drops what is over.
 */
function meetingOthers(
  inForce: InForce,
  grant: Grant,
  intervalOf: (grant: Grant) => Interval,
): readonly Grant[] {
  const { start, end } = intervalOf(grant);
  const found: Grant[] = [];
  const { alone, sharing } = inForce;
  const shares = grant.acquire.shared === true;
  for (const others of shares ? [alone] : [alone, sharing])
    for (const [process, other] of others) {
      if (intervalOf(other).end <= start) others.delete(process);
      else if (process !== grant.process) found.push(other);
    }
  const alike = shares ? sharing : alone;
  const own = alike.get(grant.process);
  if (own === undefined || intervalOf(own).end < end) alike.set(grant.process, grant);
  return found;
}

function wasAskedInside({ acquire }: Grant, { tenure }: Grant, { header }: History): boolean {
  return acquire.invoked - header.clockErrorNanos > tenure.start;
}

function doubleGrant(history: History, others: readonly Grant[], later: Grant): Finding<Code> {
  const grants = [...others, later];
  const proofs = others.map((earlier) => {
    const { provedBy, end, endedBy } = earlier.tenure;
    const proof = provedBy === earlier.acquire.id ? [] : [provedBy];
    const reason = proof.length === 0 ? '' : `, as op ${provedBy} proves`;
    const until =
      endedBy === 'lease'
        ? `its lease ran at least until ${seconds(end)}`
        : `it was in force until ${seconds(end)}`;
    return { ops: [earlier.acquire.id, ...proof], story: `${grantPhrase(earlier)}; ${until}${reason}` };
  });
  const place = among(grants, later);
  return findingOf(history, {
    ...place,
    code: 'double-grant',
    ops: [...proofs.flatMap(({ ops }) => ops), later.acquire.id],
    story:
      proofs.map(({ story }) => `${story}. `).join('') +
      faultsAround(history, place.since, place.at) +
      `${grantPhrase(later)}, asked for at ${seconds(later.acquire.invoked)}: ` +
      (others.length === 1
        ? 'the lock was given twice.'
        : `${grants.length} had it, and it has ${others.length} permits.`),
    evidence: { tenures: grants.map(tenureEvidence), holds: grants.map(holdEvidence) },
  });
}

function beliefOverlap(history: History, others: readonly Grant[], later: Grant): Finding<Code> {
  const grants = [...others, later];
  const place = among(grants, later);
  const overlap = Math.min(...grants.map(({ hold }) => hold.end)) - later.hold.start;
  const stories = others.map((earlier) => {
    const { tenure, hold, process, acquire } = earlier;
    const lease =
      tenure.endedBy === 'lease' && tenure.end < later.hold.start
        ? tenure.end > hold.start
          ? `Its lease was certain only until ${seconds(tenure.end)}, and `
          : 'It had waited for longer than a lease lasts, so none of it was certain, and '
        : '';
    return {
      given: `${grantPhrase(earlier)}${faultClause(history, process, acquire.invoked, place.at)}. ${lease}`,
      believed: `${process} still believed until ${seconds(hold.end)}`,
    };
  });
  return findingOf(history, {
    ...place,
    code: 'belief-overlap',
    ops: grants.map(({ acquire }) => acquire.id),
    story:
      `${stories.map(({ given }) => given).join('')}${grantPhrase(later)}, ` +
      `while ${list(stories.map(({ believed }) => believed))}: for ${seconds(overlap)} ` +
      (others.length === 1 ? 'both did.' : `all did, and there are ${others.length} permits.`),
    evidence: { overlapNanos: overlap, holds: grants.map(holdEvidence) },
  });
}

function among(
  grants: readonly Grant[],
  { lock, acquire, hold }: Grant,
): { lock: string; processes: readonly string[]; since: Nanos; at: Nanos } {
  return {
    lock,
    processes: grants.map(({ process }) => process),
    since: nanos(Math.min(...grants.map(({ acquire: { invoked } }) => invoked))),
    at: acquire.completed ?? hold.start,
  };
}

function tenureEvidence({ process, tenure }: Grant): JsonRecord {
  return { process, ...tenure };
}

function holdEvidence({ process, hold }: Grant): JsonRecord {
  return { process, ...hold };
}
