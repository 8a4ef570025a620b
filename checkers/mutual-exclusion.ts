// Rules `double-grant` and `belief-overlap` (2.3 of the design): two processes had one lock at the same time.
//
// `double-grant`, the service gave the lock twice: a grant H was made while a tenure of G was certain. Either all of
// H's acquire lies inside the tenure, or the certain tenures of both meet: the service began each at some time before
// it was certain, so they met. (The second form is what catches a waiting acquire, which was invoked long before G's.)
// `belief-overlap`, the clients believed so: two holds meet, and the pair is no double grant.
//
// Why not just "G was granted and not yet released when H was granted": of two acquires in flight at once either may
// have been first, and a lease that has run out, or may have, was given to H rightly. A sweep over answers, with at
// most one interval in force for each process and lock: O(n log n + findings), of which there are enough at some time.

import type { History } from '../harness/history/history.ts';
import { intersect, type Grant, type Interval } from '../harness/history/grants.ts';
import type { JsonRecord, Nanos } from '../harness/history/op.ts';
import { collector, findingOf } from './finding.ts';
import type { Finding, RuleResult } from './verdict.ts';
import { faultClause, grantPhrase, seconds } from './wording.ts';

type Code = 'double-grant' | 'belief-overlap';

export function mutualExclusion(history: History, grants: readonly Grant[]): RuleResult<Code> {
  const findings = collector<Code>();
  const locks = new Map<string, { readonly tenures: InForce; readonly holds: InForce }>();
  for (const grant of grants) {
    const { tenures, holds } = locks.get(grant.lock) ?? { tenures: new Map(), holds: new Map() };
    locks.set(grant.lock, { tenures, holds });
    // A service refuted so often: what its clients believed besides adds nothing.
    if (findings.hasEnough('double-grant')) break;
    const doubled = new Set<Grant>();
    for (const earlier of meetingOthers(tenures, grant, tenureOf)) {
      if (!wasAskedInside(grant, earlier, history) && !intersect(earlier.tenure, grant.tenure)) continue;
      doubled.add(earlier);
      findings.add('double-grant', () => doubleGrant(history, earlier, grant));
    }
    if (findings.hasEnough('belief-overlap')) continue;
    for (const earlier of meetingOthers(holds, grant, holdOf))
      if (intersect(earlier.hold, grant.hold) && !doubled.has(earlier))
        findings.add('belief-overlap', () => beliefOverlap(history, earlier, grant));
  }
  return findings.result();
}

const tenureOf = ({ tenure }: Grant): Interval => tenure;
const holdOf = ({ hold }: Grant): Interval => hold;

/** Of each process on one lock, the grant whose interval reaches furthest, as long as it may still reach another. */
type InForce = Map<string, Grant>;

/** The grants of other processes in whose intervals this one was answered. Adds it to them, and drops what is over. */
function meetingOthers(
  inForce: InForce,
  grant: Grant,
  intervalOf: (grant: Grant) => Interval,
): readonly Grant[] {
  const { start, end } = intervalOf(grant);
  const found: Grant[] = [];
  for (const [process, other] of inForce) {
    if (intervalOf(other).end <= start) inForce.delete(process);
    else if (process !== grant.process) found.push(other);
  }
  const own = inForce.get(grant.process);
  if (own === undefined || intervalOf(own).end < end) inForce.set(grant.process, grant);
  return found;
}

function wasAskedInside({ acquire }: Grant, { tenure }: Grant, { header }: History): boolean {
  return acquire.invoked - header.clockErrorNanos > tenure.start;
}

function doubleGrant(history: History, earlier: Grant, later: Grant): Finding<Code> {
  const { provedBy, end, endedBy } = earlier.tenure;
  const proof = provedBy === earlier.acquire.id ? [] : [provedBy];
  const reason = proof.length === 0 ? '' : `, as op ${provedBy} proves`;
  const until =
    endedBy === 'lease'
      ? `its lease ran at least until ${seconds(end)}`
      : `it was in force until ${seconds(end)}`;
  return findingOf(history, {
    ...between(earlier, later),
    code: 'double-grant',
    ops: [earlier.acquire.id, ...proof, later.acquire.id],
    story:
      `${grantPhrase(earlier)}; ${until}${reason}. ` +
      `${grantPhrase(later)}, asked for at ${seconds(later.acquire.invoked)}: the lock was given twice.`,
    evidence: {
      tenures: [tenureEvidence(earlier), tenureEvidence(later)],
      holds: [holdEvidence(earlier), holdEvidence(later)],
    },
  });
}

function beliefOverlap(history: History, earlier: Grant, later: Grant): Finding<Code> {
  const overlapEnd = Math.min(earlier.hold.end, later.hold.end);
  const lease =
    earlier.tenure.endedBy === 'lease' && earlier.tenure.end < later.hold.start
      ? `Its lease was certain only until ${seconds(earlier.tenure.end)}, and `
      : '';
  return findingOf(history, {
    ...between(earlier, later),
    code: 'belief-overlap',
    ops: [earlier.acquire.id, later.acquire.id],
    story:
      `${grantPhrase(earlier)}${faultClause(history, earlier.process, earlier.acquire.invoked, earlier.hold.end)}. ` +
      `${lease}${grantPhrase(later)}, while ${earlier.process} still believed until ${seconds(earlier.hold.end)}: ` +
      `for ${seconds(overlapEnd - later.hold.start)} both did.`,
    evidence: {
      overlapNanos: overlapEnd - later.hold.start,
      holds: [holdEvidence(earlier), holdEvidence(later)],
    },
  });
}

function between(
  earlier: Grant,
  later: Grant,
): { lock: string; processes: readonly string[]; since: Nanos; at: Nanos } {
  return {
    lock: earlier.lock,
    processes: [earlier.process, later.process],
    since: earlier.acquire.invoked < later.acquire.invoked ? earlier.acquire.invoked : later.acquire.invoked,
    at: later.acquire.completed ?? later.hold.start,
  };
}

function tenureEvidence({ process, tenure }: Grant): JsonRecord {
  return { process, ...tenure };
}

function holdEvidence({ process, hold }: Grant): JsonRecord {
  return { process, ...hold };
}
