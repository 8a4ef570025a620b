// Rule `stale-write-landed` (2.3 of the design): a store without any defence took a write from a holder after another
// grant of its lock had been made. This is the harm that a lock cannot prevent alone: nothing here says that the lock
// service was wrong.
//
// Proof: write W of process p on lock L was accepted. p's last acquire of L before W was answered: grant G, not released
// since. After G was answered another process was answered as well: grant H; and only then W took effect. H was asked
// for after G was answered, or it was certainly in force after that: it was not over before G was made. (A waiting
// acquire may have been asked for long before; the tokens, if there are any, must not say that G is the newer one.)
// An unanswered W counts if the store's record says that it landed. A record also proves a late effect: W came after
// all that the store put before it.
//
// Why the last acquire and not any grant: c1 is granted, then c2, then c1 again. What c1 writes now belongs to its
// second grant; judged by the first one, every hand-over back and forth would be a finding. Who asks again does not
// believe in the grant before, and who has released it writes outside of any lock: neither is this finding.
// Why H must be in force: c1 asks, is granted and paused; its lease runs out, c2 is granted (G) and c1 wakes to a stale
// answer (H). It came after c2's, but c2 is the rightful holder.

import type { Grant } from '../harness/history/grants.ts';
import type { Acquire, History, Write } from '../harness/history/history.ts';
import type { Nanos } from '../harness/history/op.ts';
import { registersOf, resultFrom, type Register } from './audit.ts';
import { findingOf } from './finding.ts';
import { defenceOf } from './store-fencing.ts';
import type { Finding, RuleResult } from './verdict.ts';
import { faultClause, grantPhrase, seconds } from './wording.ts';

/** `unknown` if nothing was found and the record of an unfenced store is flawed. O(n log n). */
export function staleWrite(history: History, grants: readonly Grant[]): RuleResult<'stale-write-landed'> {
  const { clockErrorNanos, meta } = history.header;
  const registers = registersOf(history).filter(({ store }) => defenceOf(store, meta) === 'none');
  const grantHeld = grantsHeld(history, grants);
  const successor = successorsOf(grants, clockErrorNanos);
  const findings = registers.flatMap((register) =>
    landedWrites(register).flatMap((landed) => {
      const grant = grantHeld(landed.write);
      if (grant === undefined) return [];
      const next = successor.get(grant);
      if (next === undefined) return [];
      const proof = [landed.write, landed.behind].find(
        ({ invoked }) => grantedAt(next) + clockErrorNanos < invoked - clockErrorNanos,
      );
      return proof === undefined ? [] : [findingFrom(history, register, { grant, next, proof, ...landed })];
    }),
  );
  return resultFrom(registers, findings);
}

/** A write that the store took, after `behind`, perhaps itself, was sent and not after `by`. */
interface Landed {
  readonly write: Write;
  readonly behind: Write;
  readonly by: Nanos;
}

function landedWrites({ record, writes }: Register): Landed[] {
  if (record !== undefined) return record.filter(({ row }) => row.accepted);
  return writes.flatMap((write) =>
    write.outcome === 'ok' && write.completed !== undefined
      ? [{ write, behind: write, by: write.completed }]
      : [],
  );
}

function grantedAt({ acquire: { completed, invoked } }: Grant): Nanos {
  return completed ?? invoked;
}

/** Answers under which grant a process wrote; undefined: under none. O(n) to build, O(log n) to ask. */
function grantsHeld(history: History, grants: readonly Grant[]): (write: Write) => Grant | undefined {
  const grantOf = new Map(grants.map((grant) => [grant.acquire.id, grant]));
  const asked = new Map<string, Acquire[]>();
  for (const operation of history.operations) {
    if (operation.op !== 'acquire') continue;
    const name = `${operation.process}\u0000${operation.lock}`;
    const acquires = asked.get(name);
    if (acquires === undefined) asked.set(name, [operation]);
    else acquires.push(operation);
  }
  return ({ process, lock, invoked }) => {
    const acquires = asked.get(`${process}\u0000${lock}`) ?? [];
    let [low, high] = [0, acquires.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((acquires[middle]?.invoked ?? 0) <= invoked) low = middle + 1;
      else high = middle;
    }
    const last = acquires[low - 1];
    const grant = last === undefined ? undefined : grantOf.get(last.id);
    if (grant === undefined || grantedAt(grant) > invoked) return undefined;
    return grant.release !== undefined && grant.release.invoked < invoked ? undefined : grant;
  };
}

/**
 * For each grant the first one, by answer, of another process that was made after it or while both were in force.
 * O(n) for a fixed number of processes: a grant that was answered later and does not count was asked for earlier.
 */
function successorsOf(grants: readonly Grant[], clockError: number): ReadonlyMap<Grant, Grant> {
  const successors = new Map<Grant, Grant>();
  for (const ofLock of Map.groupBy(grants, ({ lock }) => lock).values()) {
    /** Of each grant the index of the next one to another process. */
    const nextOther: number[] = [];
    for (let index = ofLock.length - 1; index >= 0; index--) {
      const same = ofLock[index + 1]?.process === ofLock[index]?.process;
      nextOther[index] = (same ? nextOther[index + 1] : undefined) ?? index + 1;
    }
    for (const [index, grant] of ofLock.entries()) {
      let later = index;
      let other: Grant | undefined = grant;
      while (other !== undefined && !supersedes(other, grant, clockError)) {
        later = other.process === grant.process ? (nextOther[later] ?? ofLock.length) : later + 1;
        other = ofLock[later];
      }
      if (other !== undefined) successors.set(grant, other);
    }
  }
  return successors;
}

function supersedes(other: Grant, grant: Grant, clockError: number): boolean {
  const made = grantedAt(grant) + 2 * clockError;
  if (other.process === grant.process || grantedAt(other) <= made) return false;
  if (other.acquire.invoked > made) return true;
  const older = other.token !== undefined && grant.token !== undefined && other.token < grant.token;
  return !older && other.tenure.start < other.tenure.end;
}

function findingFrom(
  history: History,
  { store, key }: Register,
  {
    grant,
    next,
    proof,
    write,
    by,
  }: Landed & {
    readonly grant: Grant;
    readonly next: Grant;
    /** It was sent after `next` was granted: the write itself, or one that the store put before it. */
    readonly proof: Write;
  },
): Finding<'stale-write-landed'> {
  const wrote =
    proof === write
      ? `${write.process} still wrote ${write.value} to ${key} at ${seconds(write.invoked)} (op ${write.id}), and ` +
        `store ${store}, which checks nothing, took it.`
      : `Store ${store}, which checks nothing, took ${write.process}'s write of ${write.value} to ${key}, sent at ` +
        `${seconds(write.invoked)} (op ${write.id}), even after that of ${proof.process}, which was sent at ` +
        `${seconds(proof.invoked)} (op ${proof.id}).`;
  return findingOf(history, {
    code: 'stale-write-landed',
    lock: write.lock,
    store,
    processes: [...new Set([grant.process, next.process, proof.process])],
    ops: [...new Set([grant.acquire.id, next.acquire.id, write.id, proof.id])],
    since: grant.acquire.invoked,
    at: by,
    story:
      `${grantPhrase(grant)}${faultClause(history, grant.process, grantedAt(grant), by)}. ` +
      `Then ${grantPhrase(next)}. ${wrote}`,
    evidence: {
      key,
      grantedNanos: grantedAt(grant),
      supersededNanos: grantedAt(next),
      writtenNanos: write.invoked,
    },
  });
}
