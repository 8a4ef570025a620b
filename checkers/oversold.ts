// Rule `oversold` (2.3 of the design): a store sold what it did not have. The history says how many units of each key
// were in stock (`stock` of its meta); each write that has an order takes one of them.
//
// By the store's record: an accepted order must leave one unit less than there was before it, and never less than none;
// and there are no more accepted orders than there were units. A write without an order sets the stock: what it adds
// can be sold as well. Without a record only the last can be proved, from the orders that were answered, if no other
// write may have added something; what is not proved is `unknown`: an unanswered order may have taken a unit or not.
//
// Why not look at the last stock alone: 100 units, 90 left, looks right, and 15 orders were accepted. The stock only
// shows what the last writer believed; that is the point of a lost update.

import type { History, Write } from '../harness/history/history.ts';
import { nanos, type JsonRecord, type Nanos } from '../harness/history/op.ts';
import { registersOf, type Attempt, type Register } from './audit.ts';
import { findingOf, inOrder } from './finding.ts';
import { resultOf, type Finding, type RuleResult } from './verdict.ts';
import { seconds } from './wording.ts';

type Oversold = Finding<'oversold'>;

/** `unknown` if nothing was found and a register with orders has no record, or a flawed one. O(n log n). */
export function oversold(history: History): RuleResult<'oversold'> {
  const { stock } = history.header.meta;
  if (stock === undefined) return { verdict: 'valid' };
  const registers = registersOf(history).filter(({ writes }) =>
    writes.some(({ order }) => order !== undefined),
  );
  const findings: Oversold[] = [];
  let blind: string | undefined;
  for (const register of registers) {
    const { record, store, key, flaw } = register;
    const odd = record?.find(({ row }) => row.accepted && !/^-?\d+$/.test(row.value))?.row;
    if (record !== undefined && odd === undefined)
      findings.push(...byRecord(history, register, { record, stock: BigInt(stock) }));
    else {
      findings.push(...byAnswers(history, register, BigInt(stock)));
      blind ??=
        odd === undefined
          ? (flaw ?? `store ${store} left no record of ${key}`)
          : `row ${odd.seq} of ${key} in store ${store} leaves ${JSON.stringify(odd.value)}, which is no number`;
    }
  }
  if (findings.length === 0 && blind !== undefined) return { verdict: 'unknown', reason: blind };
  return resultOf(inOrder(findings));
}

function byRecord(
  history: History,
  register: Register,
  { record, stock: first }: { readonly record: readonly Attempt[]; readonly stock: bigint },
): Oversold[] {
  const findings: Oversold[] = [];
  // What a store that was not new had left is not in the record.
  let left = record[0]?.row.version === '0' ? first : undefined;
  let stock = left;
  let sold = 0n;
  let before: Write | undefined;
  for (const { row, write, by } of record) {
    if (!row.accepted) continue;
    const now = BigInt(row.value);
    if (write.order !== undefined) {
      sold += 1n;
      const wrong =
        now < 0n
          ? `leaves ${now} in stock`
          : left !== undefined && now !== left - 1n
            ? `leaves ${now} in stock where ${left} had been left`
            : stock !== undefined && sold > stock
              ? `is the ${sold}th of ${stock} units`
              : undefined;
      if (wrong !== undefined)
        findings.push(
          oversoldOf(history, register, {
            writes: before === undefined ? [write] : [before, write],
            at: by,
            story:
              `${write.process} sold a unit of ${register.key} in store ${register.store} at ${seconds(write.invoked)} ` +
              `(order ${write.order}, op ${write.id}), and the store accepted it, though it ${wrong}. ` +
              `${sold} of ${stock ?? 'an unknown number'} have been sold by then.`,
            evidence: {
              order: write.order,
              left: left?.toString() ?? null,
              after: row.value,
              sold: sold.toString(),
              stock: stock?.toString() ?? null,
            },
          }),
        );
    } else if (stock !== undefined && left !== undefined) stock += now - left;
    left = now;
    before = write;
  }
  return findings;
}

function byAnswers(history: History, register: Register, stock: bigint): Oversold[] {
  if (register.writes.some(({ order, outcome }) => order === undefined && outcome !== 'fail')) return [];
  const sales = register.writes.flatMap(({ completed, ...write }) =>
    write.outcome === 'ok' && write.order !== undefined && completed !== undefined
      ? [{ write: { ...write, completed }, completed }]
      : [],
  );
  sales.sort((a, b) => a.completed - b.completed);
  const beyond = sales.slice(Number(stock));
  return beyond.map(({ write, completed }) =>
    oversoldOf(history, register, {
      writes: [write],
      at: completed,
      story:
        `There were ${stock} units of ${register.key} in store ${register.store}, and ${sales.length} orders were ` +
        `accepted; that of ${write.process} at ${seconds(completed)} (order ${write.order}, op ${write.id}) is one ` +
        `of those that were too many.`,
      evidence: { order: write.order, sold: String(sales.length), stock: stock.toString() },
    }),
  );
}

function oversoldOf(
  history: History,
  { store, key }: Register,
  found: {
    readonly writes: readonly Write[];
    readonly at: Nanos;
    readonly story: string;
    readonly evidence: JsonRecord;
  },
): Oversold {
  const { writes, at, story, evidence } = found;
  return findingOf(history, {
    code: 'oversold',
    ...(writes[0] !== undefined && { lock: writes[0].lock }),
    store,
    processes: [...new Set(writes.map(({ process }) => process))],
    ops: writes.map(({ id }) => id),
    since: nanos(Math.min(...writes.map(({ invoked }) => invoked))),
    at,
    story,
    evidence: { key, ...evidence },
  });
}
