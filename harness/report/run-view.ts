// One judged run with everything the sections of the report look up in it, worked out once: operations by id, grants
// with hold and tenure, the lanes of the timeline, and an anchor per finding that is unique on the page. Pure.

import type { Finding } from '../../checkers/verdict.ts';
import { doneTo, list } from '../../checkers/wording.ts';
import type { FaultSpan, History, Operation } from '../history/history.ts';
import { grantsOf, type Grant, type HoldEnd, type Interval } from '../history/grants.ts';
import type { JudgedRun, ReportedPlan } from './judged-run.ts';
import { timedLines, type TimedLine } from './server-log.ts';
import { byName, clause, counted, duration, laneName, name } from './words.ts';

export interface RunView {
  readonly run: JudgedRun;
  /** `redis-single/set-nx-px`. */
  readonly cell: string;
  /** Anchor of the run's section; those of its findings come from `anchors`. */
  readonly anchor: string;
  readonly operations: ReadonlyMap<number, Operation>;
  readonly faults: ReadonlyMap<string, FaultSpan>;
  /** What the servers printed, on the run's clock; empty if the run does not say when that began. */
  readonly logLines: readonly TimedLine[];
  /** In order of the moment of the grant. */
  readonly grants: readonly Grant[];
  /** By the id of the acquire. */
  readonly grantOf: ReadonlyMap<number, Grant>;
  /** Client processes, restarts folded into one, in the order of people. */
  readonly clients: readonly string[];
  /** In the order of the timeline: those that findings name come before the cut, then by name. */
  readonly locks: readonly string[];
  /** Other nodes that were hurt or whose role was observed. */
  readonly nodes: readonly string[];
  /** Safety and liveness findings, in order of time. */
  readonly findings: readonly Finding[];
  readonly anchors: ReadonlyMap<Finding, string>;
  /** The lane that a process is drawn in. */
  readonly laneOf: (process: string) => string;
  /** Those of a lock that carry a token, in order. */
  readonly tokensOf: (lock: string) => readonly Grant[];
  /** The grants of a process on a lock, in order. */
  readonly grantsHeldBy: (process: string, lock: string) => readonly Grant[];
}

/** At most this many locks have a lane on the timeline. */
export const LOCK_LANES_MAX = 12;

/** Views of all runs of one page, in the given order. */
export function runViews(runs: readonly JudgedRun[]): RunView[] {
  const taken = new Set<string>();
  return runs.map((run, index) => runView(run, `run-${index + 1}`, taken));
}

function runView(run: JudgedRun, anchor: string, taken: Set<string>): RunView {
  const { history, verdict, plan } = run;
  const { zeroWallTime } = history.header.meta;
  const processes = new Set<string>();
  for (const operation of history.operations)
    if (operation.op === 'acquire') processes.add(operation.process);
  const known = new Set([...processes, ...history.faults.flatMap(({ targets }) => targets)]);
  const lanes = new Map(
    [...known, ...history.lastSeen.keys()].map((process) => [process, laneName(process, known)]),
  );
  const laneOf = (process: string): string => lanes.get(process) ?? process;
  const clients = [...new Set([...processes].map(laneOf))].sort(byName);
  const nodes = [
    ...history.faults.flatMap(({ targets }) => targets),
    ...history.servers.map(({ node }) => node),
  ];
  const grants = grantsOf(history);
  const withToken = Map.groupBy(
    grants.filter(({ token }) => token !== undefined),
    ({ lock }) => lock,
  );
  const grantsByHolder = Map.groupBy(grants, ({ process, lock }) => holderKey(process, lock));
  const findings = [...verdict.findings, ...verdict.liveness].sort((a, b) => a.at - b.at);
  return {
    run,
    cell: cellOf(plan),
    anchor,
    operations: new Map(history.operations.map((operation) => [operation.id, operation])),
    faults: new Map(history.faults.map((fault) => [fault.id, fault])),
    logLines: timedLines(run.logs ?? [], zeroWallTime),
    grants,
    grantOf: new Map(grants.map((grant) => [grant.acquire.id, grant])),
    clients,
    locks: locksOf(history, findings),
    nodes: [...new Set(nodes)].filter((node) => !clients.includes(laneOf(node))).sort(byName),
    findings,
    anchors: new Map(findings.map((finding) => [finding, findingAnchor(finding, taken)])),
    laneOf,
    tokensOf: (lock) => withToken.get(lock) ?? [],
    grantsHeldBy: (process, lock) => grantsByHolder.get(holderKey(process, lock)) ?? [],
  };
}

/** `backend/recipe`, or `backend:variant/recipe` where that is not the default one. */
export function cellOf({ backend, variant, recipe }: ReportedPlan): string {
  const topology = variant === undefined || variant === 'default' ? backend : `${backend}:${variant}`;
  return `${name(topology)}/${name(recipe)}`;
}

function locksOf(history: History, findings: readonly Finding[]): string[] {
  const named = new Set(findings.map(({ lock }) => lock));
  const locks = [...new Set(history.operations.map(({ lock }) => lock))].sort(byName);
  const ranked = [...locks.filter((lock) => named.has(lock)), ...locks.filter((lock) => !named.has(lock))];
  return [...ranked.slice(0, LOCK_LANES_MAX).sort(byName), ...ranked.slice(LOCK_LANES_MAX)];
}

function holderKey(process: string, lock: string): string {
  return `${process}\u0000${lock}`;
}

/** `/f/<id>`; if an earlier run on the page has the same finding, `/f/<id>/2` and so on. */
function findingAnchor(finding: Finding, taken: Set<string>): string {
  const plain = `/f/${finding.id.replace(/[^\w-]/g, '-').slice(0, 64)}`;
  let anchor = plain;
  for (let copy = 2; taken.has(anchor); copy++) anchor = `${plain}/${copy}`;
  taken.add(anchor);
  return anchor;
}

/** When all of the grants that a finding names, two at least, were believed in at once; undefined: never. */
export function beliefOverlap(view: RunView, finding: Finding): Interval | undefined {
  const [first, ...others] = finding.ops.flatMap((id) => view.grantOf.get(id)?.hold ?? []);
  if (first === undefined || others.length === 0) return undefined;
  const shared = others.reduce<Interval>(sharedBy, first);
  return lengthOf(shared) > 0 ? shared : undefined;
}

/** Nanoseconds; 0 if it is empty. */
export function lengthOf({ start, end }: Interval): number {
  return Math.max(end - start, 0);
}

/** The common part of two intervals; empty if there is none. */
export function sharedBy(a: Interval, b: Interval): Interval {
  return { start: a.start > b.start ? a.start : b.start, end: a.end < b.end ? a.end : b.end };
}

/** What happened, in one clause without its circumstances: `c3 and c5 both believed they held k1 for 0.51 s`. */
export function headline(view: RunView, finding: Finding): string {
  const lock = name(finding.lock ?? 'the lock');
  const store = name(finding.store ?? 'the store');
  const processes = finding.processes.map((process) => name(process));
  const [first = 'a client', second = 'another client'] = processes;
  switch (finding.code) {
    case 'belief-overlap': {
      const overlap = beliefOverlap(view, finding);
      const length = overlap === undefined ? '' : ` for ${duration(lengthOf(overlap))}`;
      return `${list(processes)} ${processes.length > 2 ? 'all' : 'both'} believed they held ${lock}${length}`;
    }
    case 'double-grant':
      return `${lock} was granted to ${processes.length > 2 ? processes.length : 'two'} clients at once, ${list(processes)}`;
    case 'expired-grant':
      return `${first} was granted ${lock} with no validity left`;
    case 'late-loss-notice':
      return `${first} went on believing that it held ${lock} after its tenure had ended`;
    case 'token-regression':
      return `a later grant of ${lock} carried a token that is not above the earlier one`;
    case 'stale-write-accepted':
      return `the fenced store ${store} accepted a stale write to ${lock} from ${first}`;
    case 'stale-write-landed':
      return `a stale write to ${lock} from ${first} landed in store ${store}`;
    case 'lost-update':
      return `an update of ${lock} was lost in store ${store}`;
    case 'foreign-release':
      return `${first} ended or extended the tenure of ${second} on ${lock}`;
    case 'not-linearizable':
      return `no order of the operations on ${lock} satisfies the model`;
    case 'oversold':
      return `more of ${lock} was sold than was in stock`;
    case 'duplicate-effect':
      return `an effect under ${lock} happened twice`;
    case 'stuck-lock':
      return `${lock} is stuck: nobody live held it, and still it could not be taken`;
    case 'not-reacquired':
      return `${lock} was not acquired again in time`;
    case 'starved':
      return `${first} kept asking for ${lock} and was never given it`;
    case 'orphan-state':
      return `state of ${lock} was left behind that no live client owns`;
    case 'fault-had-no-effect':
    case 'harness-stalled':
    case 'clock-uncertain':
    case 'too-little-load':
      return finding.code;
  }
}

/** In one clause; a finding's own list has them all. */
const FAULTS_NAMED_MAX = 2;

/**
 * Under what it happened: ` after c3 was paused`, ` as c3 was being paused`, or nothing. Of faults that were proved to act
 * alone: those that may still have acted, or else those before. Whether one still did is never proved, so it is not said.
 */
export function circumstances(view: RunView, finding: Finding): string {
  const proved = finding.faults
    .flatMap((id) => view.faults.get(id) ?? [])
    .filter(({ acted }) => acted !== undefined);
  const overlap = finding.code === 'belief-overlap' ? beliefOverlap(view, finding) : undefined;
  const [from, until] = overlap === undefined ? [finding.at, finding.at] : [overlap.start, overlap.end];
  const begun = proved.filter(({ begin }) => begin <= until);
  const lasting = begun.filter(({ end = Infinity }) => end >= from);
  const shown = lasting.length > 0 ? lasting : begun;
  if (shown.length === 0) return '';
  const clauses = shown.map((fault) =>
    (fault.acted ?? from) < from
      ? `after ${clause(doneTo(fault))}`
      : `as ${clause(doneTo(fault, 'under way'))}`,
  );
  const named = [...new Set(clauses)].slice(0, FAULTS_NAMED_MAX);
  const others = clauses.filter((told) => !named.includes(told)).length;
  return ` ${list([...named, ...(others > 0 ? [`with ${counted(others, 'other fault')}`] : [])])}`;
}

/** What ended a hold, for people. */
export const HOLD_ENDING: Readonly<Record<HoldEnd, string>> = {
  release: 'release',
  lost: 'told of the loss',
  deadline: 'its own deadline',
  down: 'end of the process',
  'asked-again': 'asking again',
  open: 'nothing in this history',
  'cut-off': 'the journal stops',
};

/** The same with the operation that did it. */
export function holdEnding({ hold, release }: Grant): string {
  return `${HOLD_ENDING[hold.endedBy]}${hold.endedBy === 'release' ? ` #${release?.id ?? '?'}` : ''}`;
}
