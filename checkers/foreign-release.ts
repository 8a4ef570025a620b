// Rule `foreign-release` (2.3 of the design): a release or renew by P ended or extended the tenure of Q.
//
// Proof, for a grant of Q: a release or renew of P that answered `ok` lies inside Q's certain tenure; P's own grant
// completed before Q asked, and P's certain tenure was over by then, so whatever P touched was not P's; and an effect
// shows in Q's tenure after P's request: another process was granted the lock, Q's renew was refused as not the
// owner's, or Q's release found the lock gone. No effect is needed if the recipe does not check owners and P's release
// says that it ended something, or P's renew that it extended something: inside Q's tenure that was Q's.
// If several requests could have done it, all are named, and those of unknown outcome too, which may take effect at any
// later time: that is the release of another owner as well, whoever's it is. No claim if a fault that can lose keys, or
// leave two servers in charge, began on a server before the effect; a plain pause of a server does neither.
//
// Why the effect: P's late compare-and-delete answers `ok` as well, and removes nothing. Why P's tenure must be over:
// else it is Q's grant that was wrong (`double-grant`), and P released its own. O(n log n + requests inside tenures).

import type { History, Operation, Release, Renew } from '../harness/history/history.ts';
import type { Grant, Grants } from '../harness/history/grants.ts';
import { bothShare, isReentry, permitsOf } from '../harness/history/kinds.ts';
import { nanos, type Nanos } from '../harness/history/op.ts';
import {
  Came,
  flagAt,
  holdersOf,
  isOfLock,
  NONE,
  Op,
  releaseAt,
  renewAt,
  textAt,
} from '../harness/history/operation-columns.ts';
import { clientContainers, collector, containerOf, findingOf } from './finding.ts';
import { meeting, spansOf, type Spans } from './spans.ts';
import type { Finding, RuleResult } from './verdict.ts';
import { faultClause, grantPhrase, list, seconds } from './wording.ts';

export function foreignRelease(history: History, grants: Grants): RuleResult<'foreign-release'> {
  const { columns } = history;
  const { op, invoked, outcome, lock } = columns;
  // Hardly any lock has a late request, so they are looked for before anything is made of them.
  const suspected = new Set<number>();
  forEachRequest(history, grants, (row, own) => {
    const isOver = own !== NONE && (grants.tenureEnd[own] ?? 0) < (invoked[row] ?? 0);
    if (isOver && outcome[row] === Came.ok) suspected.add(lock[row] ?? 0);
  });
  if (suspected.size === 0) return { verdict: 'valid' };
  const requests: Request[] = [];
  forEachRequest(history, grants, (row, own) => {
    if (!suspected.has(lock[row] ?? 0)) return;
    const operation = op[row] === Op.renew ? renewAt(columns, row) : releaseAt(columns, row);
    requests.push({ operation, own: own === NONE ? undefined : grants.at(own) });
  });
  const requestsByLock = Map.groupBy(requests, ({ operation }) => operation.lock);
  const trustedUntil = firstServerFault(history);
  const findings = collector<'foreign-release'>();
  for (const number of suspected) {
    const name = columns.locks[number] ?? '';
    const ofLock = requestsByLock.get(name) ?? [];
    const grantsOfLock = Array.from(grants.ofLock[number] ?? [], grants.at);
    const answered = ofLock.filter(isAnswered);
    const lateSpans = spansOf(
      answered.filter(({ operation, own }) => isLate(operation, own)),
      spanOf,
    );
    const answeredSpans = spansOf(answered, spanOf);
    const unanswered = ofLock.filter(({ operation }) => operation.outcome === 'info');
    for (const [index, grant] of grantsOfLock.entries()) {
      const suspects = suspectsOf(history, grant, lateSpans);
      const effect = effectOf(history, { grant, suspects, grants: grantsOfLock, index });
      if (effect === undefined || effect.at >= trustedUntil) continue;
      findings.add('foreign-release', name, () =>
        foreign(history, { grant, effect, answered: answeredSpans, unanswered, own: suspects[0]?.own }),
      );
    }
  }
  return findings.result();
}

/** A release or renew that may have taken effect, and the grant that its process had last, if it was surely that one's. */
interface Request {
  readonly operation: Release | Renew;
  readonly own: Grant | undefined;
}

interface Answered extends Request {
  readonly operation: (Release | Renew) & { readonly completed: Nanos };
}

function isAnswered(request: Request): request is Answered {
  return request.operation.outcome === 'ok' && request.operation.completed !== undefined;
}

/** Answered, and its process's own tenure was over: whatever it touched was not its own. */
function isLate({ outcome, invoked }: Release | Renew, own: Grant | undefined): boolean {
  return outcome === 'ok' && own !== undefined && own.tenure.end < invoked;
}

function spanOf({ operation: { invoked, completed } }: Answered): { start: number; end: number } {
  return { start: invoked, end: completed };
}

/** The rows of requests, in order of invocation; `own` is the place of the grant that its process had last, or `NONE`. */
function forEachRequest(
  { header, columns }: History,
  grants: Grants,
  visit: (row: number, own: number) => void,
): void {
  const { size, op, outcome } = columns;
  const placeOf = new Int32Array(size).fill(NONE);
  for (let place = 0; place < grants.size; place++) placeOf[grants.acquire[place] ?? 0] = place;
  const holders = holdersOf(columns);
  const lastAttempt = new Int32Array(holders.count).fill(NONE);
  for (let row = 0; row < size; row++) {
    if (!isOfLock(columns, row) || outcome[row] === Came.fail) continue;
    const holder = holders.of[row] ?? 0;
    const attempt = lastAttempt[holder] ?? NONE;
    if (op[row] === Op.acquire) {
      const owner = attempt === NONE ? undefined : textAt(columns, attempt, 'owner');
      if (!isReentry(header.meta, owner, textAt(columns, row, 'owner'))) lastAttempt[holder] = row;
    } else if (op[row] === Op.renew || flagAt(columns, row, 'released') !== false)
      visit(row, attempt === NONE ? NONE : (placeOf[attempt] ?? NONE));
  }
}

/** Answered requests inside the tenure for grants that were over before it; in order of invocation. */
function suspectsOf({ header }: History, grant: Grant, answered: Spans<Answered>): readonly Answered[] {
  const error = header.clockErrorNanos;
  const { tenure, acquire } = grant;
  const asked = acquire.invoked - error;
  return [...meeting(answered, tenure.start, tenure.end)].filter(
    ({ operation: { invoked, completed }, own }) => {
      if (own?.acquire.completed === undefined) return false;
      const inside = invoked - error > tenure.start && completed + error < tenure.end;
      return inside && own.acquire.completed + error < asked && own.tenure.end + 2 * error < asked;
    },
  );
}

/** What shows that the tenure of a grant was touched. */
interface Effect {
  readonly operation: Operation;
  readonly at: Nanos;
  readonly story: string;
}

/** The earliest effect on `grant`, number `index` of the `grants` of its lock, after the first suspect. */
function effectOf(
  { header }: History,
  {
    grant,
    suspects,
    grants,
    index,
  }: {
    readonly grant: Grant;
    readonly suspects: readonly Answered[];
    readonly grants: readonly Grant[];
    readonly index: number;
  },
): Effect | undefined {
  const [first] = suspects;
  if (first === undefined) return undefined;
  const { clockErrorNanos: error, meta } = header;
  const { process, lock, tenure, leaseEnd = -Infinity, release, renewals } = grant;
  const isAfter = ({ invoked }: Operation): boolean => invoked - error > first.operation.invoked + error;
  const isBefore = ({ completed }: Operation, end: number): boolean =>
    completed !== undefined && completed + error < end;
  const effects: Effect[] = [];
  const note = (operation: Operation, story: string): void => {
    effects.push({ operation, at: operation.completed ?? operation.invoked, story });
  };

  // Where others may hold it too, neither their grants nor what a request removed tells whose tenure was touched.
  const alone = permitsOf(meta) === 1;
  const end = alone ? grants.length : 0;
  for (let later = index + 1; later < end; later++) {
    const other = grants[later];
    if (other === undefined || !isBefore(other.acquire, tenure.end)) break;
    if (other.process === process || bothShare(other.acquire, grant.acquire) || !isAfter(other.acquire))
      continue;
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
    alone && grant.acquire.shared !== true && meta.ownerChecked === false
      ? suspects.find(({ operation }) => operation.op === 'renew' || operation.released === true)
      : undefined;
  if (blind !== undefined)
    note(blind.operation, `It says so itself, and the recipe does not check whose lock ${lock} is.`);
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

/** So many requests of unknown outcome are named, the latest; the others are counted. */
const UNANSWERED_NAMED = 5;

function foreign(
  history: History,
  {
    grant,
    effect,
    answered,
    unanswered,
    own,
  }: {
    readonly grant: Grant;
    readonly effect: Effect;
    readonly answered: Spans<Answered>;
    readonly unanswered: readonly Request[];
    /** What the first suspect had been granted itself. */
    readonly own: Grant | undefined;
  },
): Finding<'foreign-release'> {
  const { process, lock, acquire, tenure } = grant;
  // Whatever cannot be told apart in time from the tenure may have touched it.
  const uncertain = 2 * history.header.clockErrorNanos;
  const requests = [...meeting(answered, acquire.invoked - uncertain, effect.at + uncertain)]
    .map(({ operation }) => operation)
    .filter((request) => request.process !== process);
  const pending = unanswered
    .map(({ operation }) => operation)
    .filter(
      ({ process: by, invoked }) => invoked < (by === process ? acquire.invoked : effect.at + uncertain),
    );
  const named = pending.slice(-UNANSWERED_NAMED);
  const possible = requests.map(
    ({ process: by, op, id, invoked, completed }) =>
      `${by}'s ${op} (op ${id}, ${seconds(invoked)} to ${seconds(completed)})`,
  );
  if (pending.length > 0)
    possible.push(
      `${pending.length} of unknown outcome sent before (${list(named.map(({ id }) => `op ${id}`))})`,
    );
  const past =
    own === undefined
      ? ''
      : `${own.process}'s own grant (op ${own.acquire.id}) was over` +
        `${faultClause(history, own.process, own.acquire.invoked, effect.at)}. `;
  return findingOf(history, {
    code: 'foreign-release',
    lock,
    processes: [...new Set([...requests.map((request) => request.process), process])],
    ops: [...new Set([acquire, ...requests, ...named, effect.operation].map(({ id }) => id))],
    since: nanos(Math.min(acquire.invoked, own?.acquire.invoked ?? Infinity)),
    at: effect.at,
    story:
      `${grantPhrase(grant)} and was to have it at least until ${seconds(tenure.end)}. ${past}` +
      `${possible.length > 1 ? `One of ${list(possible)}` : list(possible)} touched it all the same. ${effect.story}`,
    evidence: {
      tenure: { process, ...tenure },
      requests: requests.map(({ id, op, invoked, completed }) => ({ id, op, invoked, completed })),
      unanswered: pending.length,
      effect: effect.operation.id,
    },
  });
}
