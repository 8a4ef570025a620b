// What the store itself recorded (2.6 of the design), put beside what the clients recorded. The store rules stand on
// this: one register (a key of a store) with its operations and, if the final reads brought it, the store's own order
// of the attempts to write it. A record that contradicts itself or the history is a flaw, not evidence: it is named
// and left out, and the rules fall back to what the clients know. Pure; knows no rule.

import type { History, Read, Write } from '../harness/history/history.ts';
import { nanos, type AuditRow, type Nanos } from '../harness/history/op.ts';
import { storeOperations } from '../harness/history/operation-columns.ts';
import { inOrder } from './finding.ts';
import { resultOf, type Finding, type FindingCode, type RuleResult } from './verdict.ts';

/** One attempt to write, as the store recorded it. It took effect after `behind` was sent, and not after `by`. */
export interface Attempt {
  readonly row: AuditRow;
  readonly write: Write;
  /** Of itself and the attempts that the store put before it the one that was sent last. */
  readonly behind: Write;
  /** Its own completion, an earlier one of an attempt that the store put behind it, or that of the final read. */
  readonly by: Nanos;
}

/** One key of one store. */
export interface Register {
  readonly store: string;
  readonly key: string;
  /** In order of invocation. */
  readonly writes: readonly Write[];
  /** In order of invocation. */
  readonly reads: readonly Read[];
  /** No write that was sent before this can take effect after the record was read; undefined: any one may. */
  readonly sealedAt: Nanos | undefined;
  /** Every attempt in the store's order; undefined: the history has no record, or `flaw` says what is wrong with it. */
  readonly record: readonly Attempt[] | undefined;
  readonly flaw: string | undefined;
}

/** Several rules ask for the registers of one history. */
const known = new WeakMap<History, readonly Register[]>();

/** The registers of a history in order of their first operation. O(n log n), once for each history. */
export function registersOf(history: History): readonly Register[] {
  const registers = known.get(history) ?? gather(history);
  known.set(history, registers);
  return registers;
}

function gather({ columns, header }: History): Register[] {
  interface Draft {
    readonly store: string;
    readonly key: string;
    readonly writes: Write[];
    readonly reads: Read[];
  }
  const drafts = new Map<string, Draft>();
  for (const operation of storeOperations(columns)) {
    const { store, key } = operation;
    const name = `${store}\u0000${key}`;
    let draft = drafts.get(name);
    if (draft === undefined) drafts.set(name, (draft = { store, key, writes: [], reads: [] }));
    if (operation.op === 'read') draft.reads.push(operation);
    else draft.writes.push(operation);
  }
  return [...drafts.values()].map((draft) => {
    const record = recordOf(draft.writes, draft.reads, header.clockErrorNanos);
    const sealedAt = draft.reads.find((read) => read.sealed === true && read.audit !== undefined)?.invoked;
    if (typeof record !== 'string') return { ...draft, sealedAt, record, flaw: undefined };
    return {
      ...draft,
      sealedAt,
      record: undefined,
      flaw: `the record of ${draft.key} in store ${draft.store}: ${record}`,
    };
  });
}

/** The record, or what is wrong with it. */
function recordOf(
  writes: readonly Write[],
  reads: readonly Read[],
  clockError: number,
): readonly Attempt[] | string | undefined {
  const pages = reads.filter(({ audit }) => audit !== undefined);
  if (pages.length === 0) return undefined;
  const rows = rowsOf(pages);
  if (typeof rows === 'string') return rows;
  const unrecorded = new Map(writes.map((write) => [write.id, write]));
  const attempts: { row: AuditRow; write: Write; behind: Write; by: Nanos }[] = [];
  let behind: Write | undefined;
  let due: bigint | undefined;
  let found: string | undefined;
  for (const row of rows) {
    const write = unrecorded.get(row.id);
    if (write === undefined)
      return `row ${row.seq} is of op ${row.id}, which did not write there, or not twice`;
    unrecorded.delete(row.id);
    const contradiction = contradictionOf(row, write);
    if (contradiction !== undefined) return `row ${row.seq} contradicts op ${row.id}: ${contradiction}`;
    // The version grows by one with every accepted write and with nothing else.
    const version = BigInt(row.version);
    if (due !== undefined && version !== due)
      return `rows are missing before row ${row.seq}: version ${version} where ${due} was due`;
    due = row.accepted ? version + 1n : version;
    if (row.accepted) {
      const sum = sumOf(found, write.add);
      if (sum !== undefined && row.value !== sum)
        return `row ${row.seq} adds ${write.add} to ${found} and leaves ${row.value}`;
      found = row.value;
    }
    if (behind === undefined || write.invoked > behind.invoked) behind = write;
    attempts.push({ row, write, behind, by: write.invoked });
  }
  let by = nanos(pages.reduce((last, { completed, invoked }) => Math.max(last, completed ?? invoked), 0));
  for (const attempt of attempts.toReversed()) {
    const { completed, outcome, id } = attempt.write;
    if (outcome !== 'info' && completed !== undefined && completed < by) by = completed;
    attempt.by = by;
    if (attempt.behind.invoked - clockError > by + clockError)
      return `its order at op ${id} contradicts the stamps`;
  }
  for (const { id, outcome } of unrecorded.values())
    if (outcome === 'ok') return `op ${id} was accepted and has no row`;
  return attempts;
}

/** The rows of all pages in the store's order, each once; or what is wrong with them. */
function rowsOf(pages: readonly Read[]): readonly AuditRow[] | string {
  const rows: AuditRow[] = [];
  for (const { audit = [] } of pages)
    for (const row of audit) {
      const odd = [row.seq, row.version, row.base].find((text) => !/^(0|[1-9]\d*)$/.test(text));
      if (odd !== undefined) return `${JSON.stringify(odd)} is no decimal number`;
      rows.push(row);
    }
  rows.sort((a, b) => compareDecimals(a.seq, b.seq));
  const once: AuditRow[] = [];
  for (const row of rows) {
    const last = once.at(-1);
    if (last?.seq !== row.seq) once.push(row);
    else if (!sameRow(last, row)) return `row ${row.seq} was read twice and differs`;
  }
  return once;
}

/** Of decimal texts without leading zeros, of any length. */
function compareDecimals(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : Number(a > b));
}

/** What a relative write leaves; undefined: it is not relative, or what it met is not known. */
function sumOf(found: string | undefined, add: string | undefined): string | undefined {
  if (add === undefined || found === undefined || !/^-?\d+$/.test(found)) return undefined;
  return (BigInt(found) + BigInt(add)).toString();
}

function sameRow(a: AuditRow, b: AuditRow): boolean {
  return (
    a.id === b.id &&
    a.process === b.process &&
    a.token === b.token &&
    a.base === b.base &&
    a.version === b.version &&
    a.value === b.value &&
    a.order === b.order &&
    a.accepted === b.accepted
  );
}

function contradictionOf(row: AuditRow, write: Write): string | undefined {
  if (row.process !== write.process) return `it was written by ${row.process}, not ${write.process}`;
  // A relative write is sent without knowing what comes out of it.
  if (write.add === undefined && row.value !== write.value) return `value ${row.value}, not ${write.value}`;
  if (row.token !== write.token) return `token ${row.token ?? 'none'}, not ${write.token ?? 'none'}`;
  if (row.order !== write.order) return `order ${row.order ?? 'none'}, not ${write.order ?? 'none'}`;
  if (write.add === undefined && write.base !== undefined && row.base !== write.base)
    return `base ${row.base}, not ${write.base}`;
  if (compareDecimals(row.base, row.version) > 0) return `base ${row.base} above version ${row.version}`;
  if (write.outcome === 'ok' && !row.accepted) return 'refused, but the client was told that it was accepted';
  if (write.outcome === 'fail' && row.accepted)
    return 'accepted, but the client was told that it never happens';
  return undefined;
}

/** What a rule says that judged these registers: with a flawed record among them it cannot say `valid`. */
export function resultFrom<Code extends FindingCode>(
  registers: readonly Register[],
  findings: readonly Finding<Code>[],
): RuleResult<Code> {
  const flaw = registers.find((register) => register.flaw !== undefined)?.flaw;
  if (findings.length === 0 && flaw !== undefined) return { verdict: 'unknown', reason: flaw };
  return resultOf(inOrder(findings));
}
