// How a contended lock goes from hand to hand (workload `handover`): how long from the release to the next grant, who was
// granted how often and waited longest, what the crowd costs, and whether a queue is one. Measures beside the grade. Pure.
//
// A queue jump, where the recipe says that its tokens are places in a queue: B was granted before A, which had the place
// before it and was granted later. Grants that were asked for one after the other prove nothing of a queue (that would be
// a `token-regression`), and where a fault was in force A may have lost its place.

import { byHolder } from '../harness/history/by-holder.ts';
import { allGrants, type Grant, type Grants } from '../harness/history/grants.ts';
import type { History } from '../harness/history/history.ts';
import type { Nanos } from '../harness/history/op.ts';
import { containerOf, faultsWithin } from './finding.ts';
import type { Handover } from './verdict.ts';

const JUMPS_LISTED = 10;

/** undefined: the history is not of this workload. O(n log n). */
export function handoverOf(history: History, grantColumns: Grants): Handover | undefined {
  const { workload, fifo } = history.header.meta;
  if (workload !== 'handover') return undefined;
  const grants = allGrants(grantColumns);
  const { waitingSince, refusedTries } = waits(history);
  const latencies: number[] = [];
  const waited: number[] = [];
  const jumps: (readonly [number, number])[] = [];
  const perClient = new Map<string, number>();
  for (const ofLock of Map.groupBy(grants, ({ lock }) => lock).values()) {
    let before: Grant | undefined;
    let furthest: Grant | undefined;
    for (const grant of ofLock) {
      const client = containerOf(grant.process);
      perClient.set(client, (perClient.get(client) ?? 0) + 1);
      const given = grantedAt(grant);
      const since = waitingSince.get(grant.acquire.id) ?? grant.acquire.invoked;
      waited.push((given - since) / 1e6);
      const freed = before?.release?.invoked;
      if (freed !== undefined && since < freed && given > freed) latencies.push((given - freed) / 1e6);
      if (fifo === true && furthest !== undefined && isJumped(history, grant, furthest))
        jumps.push([furthest.acquire.id, grant.acquire.id]);
      if ((grant.token ?? -1n) > (furthest?.token ?? -1n)) furthest = grant;
      before = grant;
    }
  }
  const counts = [...perClient.values()];
  return {
    latencyMillis: quantilesOf(latencies),
    waitMillis: quantilesOf(waited),
    grantsPerClient: { least: least(counts), most: most(counts) },
    triesPerGrant: grants.length === 0 ? null : (grants.length + refusedTries) / grants.length,
    queueJumps: fifo === true ? { count: jumps.length, ops: jumps.slice(0, JUMPS_LISTED) } : null,
  };
}

/** `ahead` was granted first though `grant` has the place before it. */
function isJumped(history: History, grant: Grant, ahead: Grant): boolean {
  if (grant.token === undefined || ahead.token === undefined || grant.token >= ahead.token) return false;
  const error = 2 * history.header.clockErrorNanos;
  const [first, second] = [grantedAt(ahead), grantedAt(grant)];
  return (
    grant.acquire.invoked <= first &&
    second > first + error &&
    faultsWithin(history, grant.acquire.invoked, second).length === 0
  );
}

/** Of each granted acquire, since when its process had tried for the lock without a break; and how many tries failed. */
function waits({ operations }: History): {
  readonly waitingSince: ReadonlyMap<number, Nanos>;
  readonly refusedTries: number;
} {
  const trying = byHolder<Nanos>();
  const waitingSince = new Map<number, Nanos>();
  let refusedTries = 0;
  for (const operation of operations) {
    if (operation.op !== 'acquire') continue;
    const { process, lock, id, invoked, outcome } = operation;
    const since = trying.get(process, lock) ?? invoked;
    if (outcome === 'ok') {
      waitingSince.set(id, since);
      trying.delete(process, lock);
    } else {
      trying.set(process, lock, since);
      refusedTries += 1;
    }
  }
  return { waitingSince, refusedTries };
}

function grantedAt({ acquire }: Grant): Nanos {
  return acquire.completed ?? acquire.invoked;
}

function quantilesOf(values: readonly number[]): Handover['latencyMillis'] {
  const sorted = values.toSorted((a, b) => a - b);
  // Nearest rank.
  const at = (part: number): number | null => sorted[Math.ceil(part * sorted.length) - 1] ?? null;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

function least(counts: readonly number[]): number {
  return counts.length === 0 ? 0 : counts.reduce((a, b) => Math.min(a, b));
}

function most(counts: readonly number[]): number {
  return counts.reduce((a, b) => Math.max(a, b), 0);
}
