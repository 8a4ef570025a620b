// Rule `duplicate-effect` (2.3 of the design): a store applied one order twice. An order may be sent any number of times,
// because a client that was not answered cannot know; it should have its effect once.
//
// By the store's record: two accepted rows of one order. Without: two writes of one order, both answered `ok`.
//
// Why not count how often an order was sent: that is what its sender should do, and says nothing of the effect.

import type { History, Write } from '../harness/history/history.ts';
import { nanos, type Nanos } from '../harness/history/op.ts';
import { registersOf, type Register } from './audit.ts';
import { findingOf, inOrder } from './finding.ts';
import { resultOf, type Finding, type RuleResult } from './verdict.ts';
import { seconds } from './wording.ts';

type Duplicate = Finding<'duplicate-effect'>;

interface Applied {
  readonly write: Write;
  readonly by: Nanos;
}

/** `unknown` if nothing was found and an order that may have been applied twice has no record. O(n log n). */
export function duplicateEffect(history: History): RuleResult<'duplicate-effect'> {
  const registers = registersOf(history);
  const findings = registers.flatMap((register) => {
    const first = new Map<string, Applied>();
    return appliedIn(register).flatMap((applied) => {
      const { order } = applied.write;
      if (order === undefined) return [];
      const before = first.get(order);
      if (before === undefined) first.set(order, applied);
      return before === undefined ? [] : [duplicateOf(history, register, { order, before, applied })];
    });
  });
  const blind = registers.find((register) => register.record === undefined && mayRepeat(register));
  if (findings.length === 0 && blind !== undefined)
    return {
      verdict: 'unknown',
      reason:
        blind.flaw ?? `store ${blind.store} left no record of ${blind.key}, where orders were sent again`,
    };
  return resultOf(inOrder(findings));
}

function appliedIn({ record, writes }: Register): Applied[] {
  if (record !== undefined) return record.filter(({ row }) => row.accepted);
  return writes.flatMap((write) =>
    write.outcome === 'ok' && write.completed !== undefined ? [{ write, by: write.completed }] : [],
  );
}

function mayRepeat({ writes }: Register): boolean {
  const seen = new Set<string>();
  return writes.some(({ order, outcome }) => {
    if (order === undefined || outcome === 'fail') return false;
    return seen.size === seen.add(order).size;
  });
}

function duplicateOf(
  history: History,
  { store, key }: Register,
  found: { readonly order: string; readonly before: Applied; readonly applied: Applied },
): Duplicate {
  const { order, before, applied } = found;
  const [first, again] = [before.write, applied.write];
  return findingOf(history, {
    code: 'duplicate-effect',
    lock: again.lock,
    store,
    processes: [...new Set([first.process, again.process])],
    ops: [first.id, again.id],
    since: nanos(Math.min(first.invoked, again.invoked)),
    at: applied.by > before.by ? applied.by : before.by,
    story:
      `${first.process} sent order ${order} for ${key} to store ${store} at ${seconds(first.invoked)} (op ${first.id}` +
      `${first.outcome === 'info' ? ', never answered' : ''}), and ${again.process} sent it at ` +
      `${seconds(again.invoked)} (op ${again.id}). The store applied it both times.`,
    evidence: { key, order },
  });
}
