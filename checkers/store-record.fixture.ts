// Writes to one key of a store and the store's own record of them, for tests of what a record says.

import { step, type Step } from './scenario.fixture.ts';
import type { RuleResult } from './verdict.ts';

/** A row of the record. */
export type Row = readonly [id: number, base: number, value: string, accepted?: boolean];

/** A write to k1 in the unfenced store, unless it says otherwise. */
export function write(id: number, span: Step['span'], asks: Record<string, unknown>, gets = {}): Step {
  return step(id, `c${id}`, 'write', span, { store: 'none', key: 'k1', value: '1', ...asks }, gets);
}

interface Recorded extends Step {
  readonly gets: Readonly<Record<string, unknown>> & { readonly audit: readonly { readonly id: number }[] };
}

/** The final read of k1; versions count the rows that were accepted before. */
export function audit(
  rows: readonly Row[],
  gets: Record<string, unknown> = {},
  store = 'none',
  id = 99,
): Recorded {
  let accepted = 0;
  const list = rows.map(([op, base, value, taken = true], index) => {
    const version = accepted;
    if (taken) accepted += 1;
    return {
      seq: String(index + 1),
      id: op,
      process: `c${op}`,
      base: String(base),
      version: String(version),
      value,
      accepted: taken,
    };
  });
  return { ...step(id, 'c0', 'read', [900, 910], { store, key: 'k1' }), gets: { audit: list, ...gets } };
}

/** The record, with the order of each row. */
export function ordered(read: Recorded): Recorded {
  const rows = read.gets.audit.map((row) => ({ ...row, order: `o${row.id}` }));
  return { ...read, gets: { ...read.gets, audit: rows } };
}

/** The verdict, or why there is none. */
export function verdictOf(result: RuleResult): string {
  return result.verdict === 'unknown' ? result.reason : result.verdict;
}
