// Rule `lost-update` (2.3 of the design): a write was computed from a version that was no longer current, and what had
// come between is gone. Judged for every store, whatever its defence; it is the harm that a lock is there to prevent.
//
// By the store's record: an accepted row whose `version`, current when it took effect, is not its `base`. The accepted
// rows between are what it overwrote. This is exact, because the record is in the store's own order.
// Without a record: two accepted writes of one register from the same base. Whichever took effect second overwrote the
// first one.
//
// Why not compare values: with a counter, two writers that both read 7 both write 8. Every read then sees 8, the value
// each writer expects, and an addition is lost all the same.

import type { History, Write } from '../harness/history/history.ts';
import { nanos, type JsonRecord, type Nanos } from '../harness/history/op.ts';
import { partitionPoint } from '../harness/history/sorted.ts';
import { registersOf, resultFrom, type Attempt, type Register } from './audit.ts';
import { findingOf, inOrder } from './finding.ts';
import type { Finding, RuleResult } from './verdict.ts';
import { list, seconds } from './wording.ts';

type LostUpdate = Finding<'lost-update'>;

/** What a finding names of a long list; the evidence has its length. */
const NAMED_MAX = 8;

/** `unknown` if nothing was found and a store's record is flawed. O(n log n). */
export function lostUpdate(history: History): RuleResult<'lost-update'> {
  const registers = registersOf(history);
  const findings = registers.flatMap((register) =>
    register.record === undefined
      ? firstByBase(history, register)
      : byRecord(history, register, register.record),
  );
  return resultFrom(registers, findings);
}

function byRecord(history: History, register: Register, record: readonly Attempt[]): LostUpdate[] {
  const accepted = record.filter(({ row }) => row.accepted);
  return accepted.flatMap((attempt, index) => {
    const { row, write } = attempt;
    if (row.version === row.base) return [];
    const behind = BigInt(row.version) - BigInt(row.base);
    // What came before the first row of a store that was not new is not in the record.
    const known = behind < BigInt(index) ? Number(behind) : index;
    const named = accepted.slice(index - known, index).slice(0, NAMED_MAX);
    const others = named.map(({ write: { process, id } }) => `by ${process} (op ${id})`);
    return [
      lostUpdateOf(history, register, {
        overwritten: named.map(({ write: between }) => between),
        write,
        at: attempt.by,
        story:
          `${write.process} wrote ${write.value} to ${register.key} in store ${register.store} at ` +
          `${seconds(write.invoked)} (op ${write.id}), computed from version ${row.base}. By then version ` +
          `${row.version} was current: ${behind} accepted ${behind === 1n ? 'write' : 'writes'} in between ` +
          `${list(others)}${known > named.length ? ' and others' : ''} ${behind === 1n ? 'was' : 'were'} overwritten.`,
        evidence: { base: row.base, version: row.version, overwritten: behind.toString() },
      }),
    ];
  });
}

/**
 * The first pair only: what follows a lost update may be its consequence. A base is a version if the writes report the
 * versions that they made. Else it may be a value, and a value can come back: 0 → 1 → 0 → 1 has two writes from base 0
 * and loses nothing. Then a pair counts only if no write of that very value can have taken effect in between.
 */
function firstByBase(history: History, register: Register): LostUpdate[] {
  const restored = restoredWithin(register.writes, history.header.clockErrorNanos);
  const latest = new Map<string, Write>();
  const findings: LostUpdate[] = [];
  for (const write of register.writes) {
    const { base, outcome, completed, add } = write;
    if (outcome !== 'ok' || base === undefined || completed === undefined) continue;
    // The store adds to what is there, whatever its client had seen.
    if (add !== undefined) continue;
    const earlier = latest.get(base);
    latest.set(base, write);
    if (earlier?.completed === undefined) continue;
    const at = earlier.completed > completed ? earlier.completed : completed;
    if (write.version === undefined && restored(base, earlier.invoked, at)) continue;
    findings.push(
      lostUpdateOf(history, register, {
        overwritten: [earlier],
        write,
        at,
        story:
          `${earlier.process} wrote ${earlier.value} to ${register.key} in store ${register.store} at ` +
          `${seconds(earlier.invoked)} (op ${earlier.id}), ${write.process} wrote ${write.value} at ` +
          `${seconds(write.invoked)} (op ${write.id}). Both were accepted and both were computed from ` +
          `version ${base}, so one of them overwrote what it had not seen.`,
        evidence: { base },
      }),
    );
  }
  return inOrder(findings).slice(0, 1);
}

/** Answers whether a write of `value` can have taken effect within [from, to]. O(n) to build, O(log n) to ask. */
function restoredWithin(
  writes: readonly Write[],
  clockError: number,
): (value: string, from: Nanos, to: Nanos) => boolean {
  interface Restorer {
    readonly invoked: number;
    /** The latest completion of this write and of all before it. */
    readonly untilMax: number;
  }
  const byValue = new Map<string, Restorer[]>();
  for (const { value, invoked, completed, outcome } of writes) {
    if (outcome === 'fail') continue;
    const restorers = byValue.get(value) ?? [];
    const until = outcome === 'info' || completed === undefined ? Infinity : completed;
    restorers.push({ invoked, untilMax: Math.max(until, restorers.at(-1)?.untilMax ?? 0) });
    byValue.set(value, restorers);
  }
  return (value, from, to) => {
    const restorers = byValue.get(value) ?? [];
    const begun = partitionPoint(
      restorers.length,
      (index) => (restorers[index]?.invoked ?? 0) - clockError <= to + clockError,
    );
    return (restorers[begun - 1]?.untilMax ?? -Infinity) + clockError >= from - clockError;
  };
}

function lostUpdateOf(
  history: History,
  { store, key }: Register,
  found: {
    readonly overwritten: readonly Write[];
    readonly write: Write;
    readonly at: Nanos;
    readonly story: string;
    readonly evidence: JsonRecord;
  },
): LostUpdate {
  const { overwritten, write, at, story, evidence } = found;
  const operations = [...overwritten, write];
  return findingOf(history, {
    code: 'lost-update',
    lock: write.lock,
    store,
    processes: [...new Set(operations.map(({ process }) => process))],
    ops: operations.map(({ id }) => id),
    since: nanos(Math.min(...operations.map(({ invoked }) => invoked))),
    at,
    story,
    evidence: { key, ...evidence },
  });
}
