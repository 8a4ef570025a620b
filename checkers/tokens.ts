// Rule `token-regression` (2.3 of the design): G completed before H was invoked, same lock, different tenures, and yet
// token(H) <= token(G). Then a store that remembers the highest token refuses the newer holder or lets in the older one.
//
// Why not compare grants in order of completion: two acquires in flight at once may be granted in either order, so a
// smaller token that is answered later proves nothing. And the same token given to the same process again, which still
// holds the lock, is a re-entry. A sweep per lock over invocations keeps the highest tokens, so far, of two processes:
// whatever process H is of, one of them is another. O(n log n); one finding for each H.

import type { History } from '../harness/history/history.ts';
import { DEFAULT_CLOCK_TOLERANCE } from '../harness/history/grant-ends.ts';
import { type Grant, type Grants } from '../harness/history/grants.ts';
import { isReentry } from '../harness/history/kinds.ts';
import { nanosOf, type FencingToken } from '../harness/history/op.ts';
import { collector, findingOf } from './finding.ts';
import type { Finding, RuleResult } from './verdict.ts';
import { grantPhrase, seconds } from './wording.ts';

export function tokenRegression(history: History, grants: Grants): RuleResult<'token-regression'> {
  const findings = collector<'token-regression'>();
  for (const places of grants.ofLock) {
    // If tokens grow from answer to answer, they do from answer to invocation.
    if (ascend(history, grants, places)) continue;
    const ofLock = Array.from(places, grants.at).filter(hasToken);
    for (const [earlier, later] of regressions(history, ofLock))
      findings.add('token-regression', later.lock, () => regression(history, earlier, later));
  }
  return findings.result();
}

/** Each of the tokens is greater than those before it. */
function ascend({ columns: { tokens } }: History, { token }: Grants, places: Int32Array): boolean {
  let highest = 0;
  for (const place of places) {
    const position = token[place] ?? 0;
    if (position === 0) continue;
    if (highest !== 0 && (tokens[position] ?? 0n) <= (tokens[highest] ?? 0n)) return false;
    highest = position;
  }
  return true;
}

type Tokened = Grant & { readonly token: FencingToken };

function hasToken(grant: Grant): grant is Tokened {
  return grant.token !== undefined;
}

/** `grants` of one lock, in order of completion. */
function* regressions(
  history: History,
  grants: readonly Tokened[],
): Generator<readonly [earlier: Tokened, later: Tokened]> {
  const twiceClockError = 2 * history.header.clockErrorNanos;
  let completed = 0;
  /** Of the grants completed so far the highest token, the latest of equals; and the highest of another process. */
  let highest: Tokened | undefined;
  let highestOther: Tokened | undefined;
  for (const later of grants.toSorted((a, b) => a.acquire.invoked - b.acquire.invoked)) {
    for (; completed < grants.length; completed++) {
      const grant = grants[completed];
      if (grant === undefined || answeredAt(grant) + twiceClockError >= later.acquire.invoked) break;
      if (highest === undefined || grant.token >= highest.token) {
        if (highest?.process !== grant.process) highestOther = highest;
        highest = grant;
      } else if (
        grant.process !== highest.process &&
        (highestOther === undefined || grant.token >= highestOther.token)
      )
        highestOther = grant;
    }
    const earlier = [highest, highestOther].find(
      (grant) => grant !== undefined && later.token <= grant.token && !isSameTenure(history, grant, later),
    );
    if (earlier !== undefined) yield [earlier, later];
  }
}

/** The same token for the same holder, or process, and nothing proves that its tenure ended between the two. */
function isSameTenure({ header }: History, earlier: Tokened, later: Tokened): boolean {
  if (earlier.process !== later.process || earlier.token !== later.token) return false;
  if (isReentry(header.meta, earlier.acquire.owner, later.acquire.owner)) return true;
  const { release, hold, acquire, renewals } = earlier;
  const asked = later.acquire.invoked;
  const endedItself = release?.outcome === 'ok' && release.released !== undefined;
  if (endedItself && release.completed !== undefined && release.completed < asked) return false;
  if (hold.endedBy === 'lost' && hold.end < asked) return false;
  // Another attempt of its process came between: that one may have prolonged the tenure.
  if (hold.endedBy === 'asked-again' && hold.end + header.clockErrorNanos < asked) return true;
  const slowest = 1 + (header.meta.clockTolerance ?? DEFAULT_CLOCK_TOLERANCE);
  const leaseEnds = [acquire, ...renewals.filter(({ outcome }) => outcome !== 'fail')].map((set) => {
    const ttlMillis = set.ttlMillis ?? acquire.ttlMillis;
    if (set.outcome === 'info' || set.completed === undefined || ttlMillis === undefined) return Infinity;
    return set.completed + nanosOf(ttlMillis) * slowest;
  });
  return leaseEnds.some((end) => end >= asked);
}

function answeredAt({ acquire }: Grant): number {
  return acquire.completed ?? Infinity;
}

function regression(history: History, earlier: Tokened, later: Tokened): Finding<'token-regression'> {
  const { process, lock, acquire } = later;
  const same = earlier.token === later.token;
  return findingOf(history, {
    code: 'token-regression',
    lock,
    processes: [earlier.process, process],
    ops: [earlier.acquire.id, acquire.id],
    since: earlier.acquire.invoked,
    at: acquire.completed ?? acquire.invoked,
    story:
      `${grantPhrase(earlier)}. After that, at ${seconds(acquire.invoked)}, ${process} asked for ${lock}: ` +
      `${grantPhrase(later)}, which is ${same ? 'the same token again' : 'lower'}.`,
    evidence: { tokens: [String(earlier.token), String(later.token)] },
  });
}
