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
// Who shares a lock is superseded by nobody who shares it as well, and no holder of a semaphore by another one.

import { allGrants, type Grant, type Grants } from '../harness/history/grants.ts';
import type { Acquire, History, Write } from '../harness/history/history.ts';
import { byHolder } from '../harness/history/by-holder.ts';
import type { FencingToken, Nanos } from '../harness/history/op.ts';
import { isReentry, permitsOf } from '../harness/history/kinds.ts';
import { partitionPoint } from '../harness/history/sorted.ts';
import { registersOf, resultFrom, type Register } from './audit.ts';
import { findingOf } from './finding.ts';
import { highestOf } from './highest.ts';
import { defenceOf } from './store-fencing.ts';
import type { Finding, RuleResult } from './verdict.ts';
import { faultClause, grantPhrase, seconds } from './wording.ts';

/** `unknown` if nothing was found and the record of an unfenced store is flawed. O(n log n). */
export function staleWrite(history: History, grantColumns: Grants): RuleResult<'stale-write-landed'> {
  const { clockErrorNanos, meta } = history.header;
  const registers = registersOf(history).filter(({ store }) => defenceOf(store, meta) === 'none');
  if (registers.length === 0 || permitsOf(meta) > 1) return resultFrom([], []);
  const grants = allGrants(grantColumns);
  const grantHeld = grantsHeld(history, grants);
  const successorOf = successorsOf(grants, clockErrorNanos);
  const findings = registers.flatMap((register) =>
    landedWrites(register).flatMap((landed) => {
      const grant = grantHeld(landed.write);
      if (grant === undefined || grant.acquire.shared === true) return [];
      const next = successorOf(grant);
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
  const asked = byHolder<Acquire[]>();
  for (const operation of history.operations) {
    if (operation.op !== 'acquire') continue;
    const { process, lock } = operation;
    const acquires = asked.get(process, lock);
    const last = acquires?.at(-1);
    if (acquires === undefined || last === undefined) asked.set(process, lock, [operation]);
    else if (!isReentry(history.header.meta, last.owner, operation.owner)) acquires.push(operation);
  }
  return ({ process, lock, invoked }) => {
    const acquires = asked.get(process, lock) ?? [];
    const last =
      acquires[partitionPoint(acquires.length, (index) => (acquires[index]?.invoked ?? 0) <= invoked) - 1];
    const grant = last === undefined ? undefined : grantOf.get(last.id);
    if (grant === undefined || grantedAt(grant) > invoked) return undefined;
    return grant.release !== undefined && grant.release.invoked < invoked ? undefined : grant;
  };
}

/**
 * Answers which grant superseded another: the first one, by answer, of another process that was made after it or while
 * both were in force. O(n log n) to build, O(log n) to ask.
 */
function successorsOf(grants: readonly Grant[], clockError: number): (grant: Grant) => Grant | undefined {
  const locks = new Map(
    [...Map.groupBy(grants, ({ lock }) => lock)].map(([lock, ofLock]) => [lock, succession(ofLock)]),
  );
  return (grant) => locks.get(grant.lock)?.(grant, grantedAt(grant) + 2 * clockError);
}

/** Of the grants of one lock, in order of answer: the first of another process that superseded one `made` by then. */
function succession(grants: readonly Grant[]): (grant: Grant, made: number) => Grant | undefined {
  const numbers = new Map<string, number>();
  const groups = Int32Array.from(grants, ({ process }) => {
    const number = numbers.get(process) ?? numbers.size;
    numbers.set(process, number);
    return number;
  });
  const rankOf = ranksOf(grants.flatMap(({ token }) => token ?? []));
  const asked = highestOf(
    Float64Array.from(grants, ({ acquire }) => acquire.invoked),
    groups,
  );
  // Without a token it is older than none.
  const inForce = highestOf(
    Float64Array.from(grants, ({ tenure, token }) =>
      tenure.start < tenure.end ? (token === undefined ? Infinity : rankOf(token)) : -Infinity,
    ),
    groups,
  );
  return ({ process, token }, made) => {
    const later = partitionPoint(grants.length, (index) => {
      const grant = grants[index];
      return grant !== undefined && grantedAt(grant) <= made;
    });
    const own = numbers.get(process);
    const askedAfter = asked.first(later, made + 1, own);
    return grants[Math.min(askedAfter, inForce.first(later, token === undefined ? 0 : rankOf(token), own))];
  };
}

/** Where each token stands among `tokens`, from 0; equal ones stand together. */
function ranksOf(tokens: readonly FencingToken[]): (token: FencingToken) => number {
  const sorted = [...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1));
  const ranks = new Map(sorted.map((token, rank) => [token, rank]));
  return (token) => ranks.get(token) ?? 0;
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
