// How hard it was tried (2.4 of the design): what a clean result is worth. Counts grants, contended hand-offs, expiries
// and faults that hit a holder, and says what is too little (I7). Knows no rule's proof; of findings only whether there
// was a double grant, because 3/N bounds the rate of what was never seen (the "rule of three": (1 - p)^N = 5 %).

import type { FaultSpan, History } from '../harness/history/history.ts';
import { permitsOf } from '../harness/history/kinds.ts';
import { TENURE_ENDS, type Grants, type Interval } from '../harness/history/grants.ts';
import { Came, flagAt, holdersOf, isOfLock, NEVER, NONE, Op } from '../harness/history/operation-columns.ts';
import { nanos } from '../harness/history/op.ts';
import { stallsOf } from '../harness/history/stalls.ts';
import { clientContainers, containerOf } from './finding.ts';
import { meeting, spansOf, type Spans } from './spans.ts';
import type { Finding, Power } from './verdict.ts';
import { list, seconds } from './wording.ts';

type Warning = Power['warnings'][number];

const MIN_CONTENDED_HANDOFFS = 1;
/** Intervals narrowed by more than this part of the TTL at each end are too short to show what happened. */
const CLOCK_ERROR_MAX = 0.1;
/** Of the time of a run. On two processors with nothing else to do it was 0.13 to 0.43, with much else 0.97. */
const STARVED_SHARE = 0.7;

/** O(n log n). */
export function powerOf(history: History, grants: Grants, findings: readonly Finding[]): Power {
  const contendedHandoffs = countContendedHandoffs(history, grants);
  const { faults } = history;
  const acted = faults.filter((fault) => fault.acted !== undefined);
  const hitHold = hitting(history, acted, () => heldSpans(history, grants));
  const hitSomething = hitHold.length > 0 || hitting(history, acted, () => requestSpans(history)).length > 0;
  return {
    grants: grants.size,
    contendedHandoffs,
    expiries: countExpiries(grants),
    faults: { planned: faults.length, acted: acted.length, hitHold: hitHold.length },
    rateBound:
      contendedHandoffs > 0 && findings.every(({ code }) => code !== 'double-grant')
        ? 3 / contendedHandoffs
        : null,
    warnings: [
      ...loadWarnings(history, grants.size, contendedHandoffs),
      ...faultWarnings(history, acted.length, hitSomething),
      ...clockWarnings(history, grants),
      ...stallWarnings(history),
      ...starvationWarnings(history),
    ],
  };
}

function loadWarnings({ header }: History, grants: number, contendedHandoffs: number): Warning[] {
  const { minContendedHandoffs: least = MIN_CONTENDED_HANDOFFS } = header.meta;
  if (grants === 0) return [{ code: 'too-little-load', message: 'no lock was ever granted', decisive: true }];
  if (contendedHandoffs >= least) return [];
  return [
    {
      code: 'too-little-load',
      message: `${contendedHandoffs} contended hand-offs, fewer than ${least}: hardly anybody wanted what another had`,
      decisive: true,
    },
  ];
}

function faultWarnings({ header, faults }: History, acted: number, hitSomething: boolean): Warning[] {
  const { plannedFaults = [] } = header.meta;
  const idle = faults.filter((fault) => fault.acted === undefined).map(({ id }) => id);
  const code = 'fault-had-no-effect';
  if (acted === 0 && (plannedFaults.length > 0 || faults.length > 0)) {
    const what =
      faults.length === 0
        ? `${list(plannedFaults)} was planned and never began`
        : `none of ${faults.length} faults was proved to act${whyNot(faults)}`;
    return [{ code, message: what, decisive: true }];
  }
  const warnings: Warning[] = [];
  const missing = plannedFaults.filter((kind) => faults.every(({ fault }) => fault !== kind));
  if (missing.length > 0)
    warnings.push({ code, message: `${list(missing)} was planned and never began`, decisive: false });
  if (idle.length > 0)
    warnings.push({
      code,
      message: `${idle.length} of ${faults.length} faults were not proved to act: ${list(idle)}${whyNot(faults)}`,
      decisive: false,
    });
  if (acted > 0 && !hitSomething)
    warnings.push({
      code,
      message: `${acted} faults acted, and none while the process it hit held a lock, or was being given or giving back one`,
      decisive: true,
    });
  return warnings;
}

/** That faults cannot hurt what they were aimed at, where the nemesis said so. */
function whyNot(faults: readonly FaultSpan[]): string {
  const reasons = faults.flatMap(({ fault, evidence: { notApplicable } }) =>
    typeof notApplicable === 'string' ? [`; ${fault} is not applicable: ${notApplicable}`] : [],
  );
  return [...new Set(reasons)].join('');
}

function clockWarnings({ header, columns }: History, { size, start, holdEnd }: Grants): Warning[] {
  const { clockErrorNanos, meta } = header;
  if (clockErrorNanos === 0) return [];
  const ttlMillis =
    meta.ttlMillis ??
    columns.ttlMillis.reduce(
      (shortest, ttl, row) => (columns.op[row] === Op.acquire ? Math.min(shortest, ttl) : shortest),
      Infinity,
    );
  const vanished = holdEnd.filter((end, place) => end <= (start[place] ?? 0));
  const tooCoarse =
    ttlMillis === Infinity ? vanished.length > size / 2 : clockErrorNanos > ttlMillis * 1e6 * CLOCK_ERROR_MAX;
  if (!tooCoarse) return [];
  const against = ttlMillis === Infinity ? 'how long locks were held' : `leases of ${ttlMillis} ms`;
  return [
    {
      code: 'clock-uncertain',
      message: `stamps are off by up to ${clockErrorNanos / 1e6} ms, too much against ${against}`,
      decisive: true,
    },
  ];
}

function stallWarnings(history: History): Warning[] {
  const stalls = stallsOf(history);
  if (stalls.length === 0) return [];
  const stalledNanos = stalls.reduce((sum, { start, end }) => sum + end - start, 0);
  return [
    {
      code: 'harness-stalled',
      message:
        `lockpick itself stood still ${stalls.length === 1 ? 'once' : `${stalls.length} times`}, first at ${seconds(stalls[0]?.start ?? 0)}: for ` +
        `${(stalledNanos / 1e9).toFixed(1)} s nothing that came late is held against the lock service`,
      decisive: false,
    },
  ];
}

/**
 * Processes that wait for a processor most of the time are paused as by SIGSTOP: a client that outlives its lease then
 * did so, and nobody planned it; and what was planned comes too late to show what it should.
 */
function starvationWarnings(history: History): Warning[] {
  const words = starvedWords(history);
  if (words === undefined) return [];
  return [
    {
      code: 'harness-stalled',
      message: `${words}: whoever was late may have been kept waiting by this machine, without any fault of ours`,
      decisive: false,
    },
  ];
}

/** `for 91 % of the time some process here waited for a processor`; undefined: the machine kept up. */
export function starvedWords({ harness }: History): string | undefined {
  const watchedNanos = harness.reduce((sum, { since, time }) => sum + time - since, 0);
  const waitedMillis = harness.reduce(
    (sum, { cpuWaitMillis, cpuStolenMillis }) => sum + (cpuWaitMillis ?? cpuStolenMillis ?? 0),
    0,
  );
  const share = watchedNanos === 0 ? 0 : (waitedMillis * 1e6) / watchedNanos;
  if (share < STARVED_SHARE) return undefined;
  return `for ${Math.round(Math.min(share, 1) * 100)} % of the time some process here waited for a processor`;
}

const LEASE = TENURE_ENDS.indexOf('lease');

/** Grants whose client could have gone on past its lease, whether anything came of it or not. */
function countExpiries({ size, tenureEnd, tenureEndedBy, holdEnd, release }: Grants): number {
  let expiries = 0;
  for (let place = 0; place < size; place++) {
    const outlived = (tenureEnd[place] ?? 0) < (holdEnd[place] ?? 0) || release[place] === NONE;
    if (tenureEndedBy[place] === LEASE && outlived) expiries++;
  }
  return expiries;
}

/**
 * Consecutive grants of a lock to different processes, of which the later one wanted it while the earlier one had it:
 * it had asked before the earlier hold ended, or an earlier try of its was answered after the earlier grant. Of a
 * semaphore all the last ones, as many as it has permits; and those who share a lock wait for nobody who does.
 */
function countContendedHandoffs(history: History, { acquire, process, holdEnd, ofLock }: Grants): number {
  const { columns, header } = history;
  const { invoked, completed } = columns;
  const lastTryAnswered = previousTries(history);
  const permits = permitsOf(header.meta);
  const shares = (row: number): boolean => flagAt(columns, row, 'shared') === true;
  const wanted = (place: number, before: number): boolean => {
    const [asked, given] = [acquire[place] ?? 0, acquire[before] ?? 0];
    if (process[before] === process[place] || (shares(given) && shares(asked))) return false;
    return (
      (invoked[asked] ?? 0) < (holdEnd[before] ?? 0) ||
      (lastTryAnswered[asked] ?? 0) > (completed[given] ?? 0)
    );
  };
  let handoffs = 0;
  for (const places of ofLock)
    for (let next = permits; next < places.length; next++) {
      let before = next - permits;
      while (before < next && wanted(places[next] ?? 0, places[before] ?? 0)) before++;
      if (before === next) handoffs++;
    }
  return handoffs;
}

/** By row of an acquire, when the last attempt of its process on the lock before it was answered; Infinity: never. */
function previousTries({ columns }: History): Float64Array {
  const { size, op, completed } = columns;
  const holders = holdersOf(columns);
  const last = new Float64Array(holders.count).fill(-Infinity);
  const answered = new Float64Array(size);
  for (let row = 0; row < size; row++) {
    if (op[row] !== Op.acquire) continue;
    const holder = holders.of[row] ?? 0;
    answered[row] = last[holder] ?? 0;
    last[holder] = completed[row] ?? 0;
  }
  return answered;
}

/** A time during which a fault on the process's container hits something. */
interface Exposed extends Interval {
  readonly process: string;
}

function heldSpans({ columns }: History, { size, process, start, holdEnd }: Grants): Exposed[] {
  const spans: Exposed[] = [];
  for (let place = 0; place < size; place++) {
    const [from, to] = [nanos(start[place] ?? 0), nanos(holdEnd[place] ?? 0)];
    if (from < to)
      spans.push({ process: columns.processes[process[place] ?? 0] ?? '', start: from, end: to });
  }
  return spans;
}

/** Requests that give or take a lock; a try that was refused gives nothing. */
function requestSpans({ columns, end, lastSeen }: History): Exposed[] {
  const { size, op, outcome, process: by, processes, invoked, completed } = columns;
  const spans: Exposed[] = [];
  for (let row = 0; row < size; row++) {
    if (!isOfLock(columns, row) || (op[row] === Op.acquire && outcome[row] === Came.fail)) continue;
    const process = processes[by[row] ?? 0] ?? '';
    const answered = completed[row] ?? NEVER;
    const to = answered === NEVER ? (lastSeen.get(process) ?? end) : nanos(answered);
    spans.push({ process, start: nanos(invoked[row] ?? 0), end: to });
  }
  return spans;
}

/** The faults of `acted` that met one of those exposed: of the processes they target, or any, if they hit a server. */
function hitting(
  history: History,
  acted: readonly FaultSpan[],
  exposedOf: () => readonly Exposed[],
): FaultSpan[] {
  if (acted.length === 0) return [];
  const exposed = exposedOf();
  const clients = clientContainers(history);
  const error = history.header.clockErrorNanos;
  const ofContainer = Map.groupBy(exposed, ({ process }) => containerOf(process));
  const indexed = new Map<string, Spans<Exposed>>();
  const spansOn = (target: string): Spans<Exposed> => {
    const container = containerOf(target);
    const key = clients.has(container) ? container : '';
    const known =
      indexed.get(key) ?? spansOf(key === '' ? exposed : (ofContainer.get(key) ?? []), (span) => span);
    indexed.set(key, known);
    return known;
  };
  return acted.filter(({ fault, targets, begin, acted: proved = begin, end = history.end }) => {
    // A process believes nothing once it is killed, which is before that is proved.
    const from = (fault === 'kill' ? begin : proved) - error;
    return targets.some((target) => meeting(spansOn(target), from, end + error).next().done === false);
  });
}
