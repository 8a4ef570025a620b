// Rule `foreign-release` (2.3 of the design): a release or renew by P ended or extended the tenure of Q.
//
// Proof, for a grant of Q: a release or renew of P that answered `ok` lies inside Q's certain tenure; P's own grant
// completed before Q asked, and P's certain tenure was over by then, so whatever P touched was not P's; and an effect
// shows in Q's tenure after P's request: another process was granted the lock, Q's renew was refused as not the
// owner's, or Q's release found the lock gone. No effect is needed if the recipe does not check owners and P's release
// says that it ended something, or P's renew that it extended something: inside Q's tenure that was Q's.
// If several requests could have done it, all are named. No claim if a fault that can lose keys, or leave two servers
// in charge, began on a server before the effect; a plain pause of a server does neither.
//
// Why the effect: P's late compare-and-delete answers `ok` as well, and removes nothing. Why P's tenure must be over:
// else it is Q's grant that was wrong (`double-grant`), and P released its own. O(n log n + requests inside tenures).

import type { History, Operation, Release, Renew } from '../harness/history/history.ts';
import type { Grant } from '../harness/history/grants.ts';
import type { Nanos } from '../harness/history/op.ts';
import { clientContainers, containerOf, findingOf, inOrder } from './finding.ts';
import { resultOf, type Finding, type RuleResult } from './verdict.ts';
import { faultClause, grantPhrase, list, seconds } from './wording.ts';

export function foreignRelease(history: History, grants: readonly Grant[]): RuleResult<'foreign-release'> {
  const requests = requestsOf(history, grants);
  const trustedUntil = firstServerFault(history);
  const findings: Finding<'foreign-release'>[] = [];
  for (const [lock, ofLock] of Map.groupBy(grants, (grant) => grant.lock)) {
    const ofOthers = requests.get(lock) ?? [];
    for (const [index, grant] of ofLock.entries()) {
      const suspects = suspectsOf(history, grant, ofOthers);
      const [first] = suspects;
      if (first === undefined) continue;
      const effect = effectOf(history, { grant, first, later: ofLock, from: index + 1, suspects });
      if (effect !== undefined && effect.at < trustedUntil)
        findings.push(foreign(history, grant, suspects, effect));
    }
  }
  return resultOf(inOrder(findings));
}

/** A release or renew that was answered `ok`, and the grant that its process had last. */
interface Request {
  readonly operation: (Release | Renew) & { readonly completed: Nanos };
  readonly own: Grant;
}

/** Of each lock, in order of invocation; without those of processes that may have been granted it unknowingly. */
function requestsOf(history: History, grants: readonly Grant[]): ReadonlyMap<string, readonly Request[]> {
  const grantOf = new Map(grants.map((grant) => [grant.acquire.id, grant]));
  const lastAttempt = new Map<string, number>();
  const requests: Request[] = [];
  for (const operation of history.operations) {
    if (operation.op !== 'acquire' && operation.op !== 'release' && operation.op !== 'renew') continue;
    const holder = `${operation.process}\u0000${operation.lock}`;
    if (operation.op === 'acquire') {
      if (operation.outcome !== 'fail') lastAttempt.set(holder, operation.id);
      continue;
    }
    const own = grantOf.get(lastAttempt.get(holder) ?? NaN);
    if (own !== undefined && tookEffect(operation)) requests.push({ operation, own });
  }
  return Map.groupBy(requests, ({ operation }) => operation.lock);
}

function tookEffect(request: Release | Renew): request is Request['operation'] {
  return (
    request.outcome === 'ok' &&
    request.completed !== undefined &&
    !(request.op === 'release' && request.released === false)
  );
}

/** The requests of others inside the tenure that had no right to it. */
function suspectsOf({ header }: History, grant: Grant, requests: readonly Request[]): readonly Request[] {
  const { clockErrorNanos } = header;
  const asked = grant.acquire.invoked - clockErrorNanos;
  const found: Request[] = [];
  for (
    let index = firstAfter(requests, grant.tenure.start + clockErrorNanos);
    index < requests.length;
    index++
  ) {
    const request = requests[index];
    if (request === undefined || request.operation.invoked >= grant.tenure.end) break;
    const { operation, own } = request;
    const ownWasOver =
      (own.acquire.completed ?? Infinity) + clockErrorNanos < asked &&
      own.tenure.end + 2 * clockErrorNanos < asked;
    const inside = operation.completed + clockErrorNanos < grant.tenure.end;
    if (operation.process !== grant.process && ownWasOver && inside) found.push(request);
  }
  return found;
}

/** The first of `requests` (in order of invocation) that was invoked after `time`. */
function firstAfter(requests: readonly Request[], time: number): number {
  let [low, high] = [0, requests.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((requests[middle]?.operation.invoked ?? Infinity) > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** What shows that the tenure of a grant was touched. */
interface Effect {
  readonly operation: Operation;
  readonly at: Nanos;
  readonly story: string;
}

/** The earliest effect on `grant` after the first suspect. `later`: the grants of the lock in order of completion. */
function effectOf(
  history: History,
  {
    grant,
    first,
    later,
    from,
    suspects,
  }: {
    readonly grant: Grant;
    readonly first: Request;
    readonly later: readonly Grant[];
    readonly from: number;
    readonly suspects: readonly Request[];
  },
): Effect | undefined {
  const { clockErrorNanos, meta } = history.header;
  const { process, lock, tenure, leaseEnd = -Infinity, release, renewals } = grant;
  const isAfter = ({ invoked }: Operation): boolean =>
    invoked - clockErrorNanos > first.operation.invoked + clockErrorNanos;
  const isBefore = ({ completed }: Operation, end: number): boolean =>
    completed !== undefined && completed + clockErrorNanos < end;
  const effects: Effect[] = [];
  const note = (operation: Operation, story: string): void => {
    effects.push({ operation, at: operation.completed ?? operation.invoked, story });
  };

  for (let index = from; index < later.length; index++) {
    const other = later[index];
    if (other === undefined || !isBefore(other.acquire, tenure.end)) break;
    if (other.process === process || !isAfter(other.acquire)) continue;
    note(other.acquire, `Then ${grantPhrase(other)}, which ${process}'s tenure forbids.`);
    break;
  }
  // Without a lease a session may have ended by itself; then only another's grant shows that somebody ended it.
  const refused = renewals.find((renew) => renew.error === 'not-owner' && isAfter(renew));
  if (refused !== undefined && isBefore(refused, Math.min(tenure.end, leaseEnd)))
    note(refused, `Then ${process}'s renew (op ${refused.id}) was refused: not the owner.`);
  if (release?.released === false && isAfter(release) && isBefore(release, leaseEnd))
    note(release, `Then ${process}'s release (op ${release.id}) found nothing to release.`);
  const blind =
    meta.ownerChecked === false
      ? suspects.find(({ operation }) => operation.op === 'renew' || operation.released === true)
      : undefined;
  if (blind !== undefined)
    note(blind.operation, `It said so itself; the recipe does not check whose lock ${lock} is.`);
  return effects.sort((a, b) => a.at - b.at)[0];
}

/** When the first fault began that may have made the service forget a lock, or have two servers answer for it. */
function firstServerFault(history: History): number {
  const clients = clientContainers(history);
  const onServers = history.faults.filter(
    ({ fault, targets }) =>
      fault !== 'pause' &&
      (targets.length === 0 || targets.some((target) => !clients.has(containerOf(target)))),
  );
  return onServers.reduce((first, { begin }) => Math.min(first, begin), Infinity);
}

function foreign(
  history: History,
  grant: Grant,
  suspects: readonly Request[],
  effect: Effect,
): Finding<'foreign-release'> {
  const { process, lock, acquire, tenure } = grant;
  const candidates = suspects.filter(({ operation }) => operation.invoked <= effect.at);
  const requests = candidates.map(({ operation }) => operation);
  const culprits = [...new Set(requests.map((request) => request.process))];
  const done = requests.map(
    ({ process: by, op, id, invoked, completed }) =>
      `${by}'s ${op} (op ${id}, ${seconds(invoked)} to ${seconds(completed)})`,
  );
  const own = candidates[0]?.own;
  const past =
    own === undefined
      ? ''
      : `${own.process}'s own grant (op ${own.acquire.id}) was over${faultClause(history, own.process, own.acquire.invoked, effect.at)}. `;
  return findingOf(history, {
    code: 'foreign-release',
    lock,
    processes: [...culprits, process],
    ops: [...new Set([acquire.id, ...requests.map(({ id }) => id), effect.operation.id])],
    since: acquire.invoked,
    at: effect.at,
    story:
      `${grantPhrase(grant)} and was to have it at least until ${seconds(tenure.end)}. ${past}` +
      `${requests.length > 1 ? `One of ${list(done)}` : list(done)} touched it all the same. ${effect.story}`,
    evidence: {
      tenure: { process, ...tenure },
      requests: requests.map(({ id, op, invoked, completed }) => ({ id, op, invoked, completed })),
      effect: effect.operation.id,
    },
  });
}
