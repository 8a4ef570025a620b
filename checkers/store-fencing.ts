// Rule `stale-write-accepted` (2.3 of the design): a fenced store accepted a write whose token is below one that it had
// accepted before. Then the store, or whatever makes the tokens, broke its promise (Kleppmann 2016, "How to do
// distributed locking", has the idea of the token).
//
// With the store's record: its own order of the writes, and the order in time for reads, which are in no record.
// Without: an accepted operation with the higher token completed before the one with the lower token was invoked.
// In a fully fenced store an accepted read raises the mark as a write does.
//
// Why not go by the order of completions alone: two writes that overlap in time may have taken effect either way, so
// token 8 answered before token 7 proves nothing.

import type { History, Read, Write } from '../harness/history/history.ts';
import { nanos, type FencingToken, type HistoryMeta, type Nanos } from '../harness/history/op.ts';
import { registersOf, resultFrom, type Register } from './audit.ts';
import { findingOf } from './finding.ts';
import type { Finding, RuleResult } from './verdict.ts';
import { seconds } from './wording.ts';

const FENCED: ReadonlySet<string> = new Set(['fence-on-write', 'fence-on-read-and-write']);

/** What each store is called that is not named after its defence. */
const DEFENCE_BY_NAME: ReadonlyMap<string, string> = new Map([
  ['unfenced', 'none'],
  ['fenced', 'fence-on-read-and-write'],
]);

/** The defence that a store runs (2.6): as the history says, else by its name. An unknown name is itself. */
export function defenceOf(store: string, meta: HistoryMeta): string {
  const stores = new Map(Object.entries(meta.stores ?? {}));
  const name = stores.get(store) ?? store;
  return DEFENCE_BY_NAME.get(name) ?? name;
}

/** `unknown` if nothing was found and the record of a fenced store is flawed. O(n log n). */
export function storeFencing(history: History): RuleResult<'stale-write-accepted'> {
  const registers = registersOf(history).filter(({ store }) =>
    FENCED.has(defenceOf(store, history.header.meta)),
  );
  const findings = registers.flatMap((register) => staleWrites(history, register));
  return resultFrom(registers, findings);
}

/** An accepted operation that raised the store's mark to `token`, done at `at`. */
interface Mark {
  readonly operation: Read | Write;
  readonly token: FencingToken;
  readonly at: Nanos;
}

/** A write that was accepted, and took effect after `behind`, perhaps itself, was sent and not after `by`. */
interface Accepted {
  readonly write: Write;
  readonly token: FencingToken;
  readonly behind: Write;
  readonly by: Nanos;
}

function staleWrites(history: History, register: Register): Finding<'stale-write-accepted'>[] {
  const { clockErrorNanos, meta } = history.header;
  const { record, reads, writes, store } = register;
  const accepted = acceptedOf(register);
  const raising = defenceOf(store, meta) === 'fence-on-write' ? [] : reads;
  const marks = (record === undefined ? [...raising, ...writes] : raising)
    .flatMap(markOf)
    .sort((a, b) => a.at - b.at);
  const findings: Finding<'stale-write-accepted'>[] = [];
  let highest: Mark | undefined;
  let next = 0;
  // Either way `behind` is sent later and later, so one pass over the marks is enough.
  for (const stale of accepted) {
    const { write, token, behind, by } = stale;
    for (let mark = marks[next]; mark !== undefined; mark = marks[++next]) {
      if (mark.at + clockErrorNanos >= behind.invoked - clockErrorNanos) break;
      if (highest === undefined || mark.token > highest.token) highest = mark;
    }
    if (highest !== undefined && token < highest.token)
      findings.push(findingFrom(history, register, highest, stale));
    else if (record !== undefined && (highest === undefined || token > highest.token))
      highest = { operation: write, token, at: by };
  }
  return findings;
}

/** In the store's order, else in order of invocation. */
function acceptedOf({ record, writes }: Register): Accepted[] {
  if (record !== undefined)
    return record.flatMap(({ row: { token, accepted }, write, behind, by }) =>
      accepted && token !== undefined ? [{ write, token, behind, by }] : [],
    );
  return writes.flatMap((write) =>
    write.outcome === 'ok' && write.token !== undefined && write.completed !== undefined
      ? [{ write, token: write.token, behind: write, by: write.completed }]
      : [],
  );
}

function markOf(operation: Read | Write): Mark[] {
  const { outcome, token, completed } = operation;
  return outcome === 'ok' && token !== undefined && completed !== undefined
    ? [{ operation, token, at: completed }]
    : [];
}

function findingFrom(
  history: History,
  { store, key }: Register,
  mark: Mark,
  { write, token, behind, by }: Accepted,
): Finding<'stale-write-accepted'> {
  const { operation } = mark;
  const did = operation.op === 'read' ? 'read' : 'wrote';
  // A write sent before the mark was made is only known to be late by one that was sent after it.
  const { clockErrorNanos } = history.header;
  const late = operation.op === 'read' && mark.at + clockErrorNanos >= write.invoked - clockErrorNanos;
  const proof = late ? [behind] : [];
  const named = [operation, ...proof, write];
  return findingOf(history, {
    code: 'stale-write-accepted',
    lock: write.lock,
    store,
    processes: [...new Set(named.map(({ process }) => process))],
    ops: named.map(({ id }) => id),
    since: nanos(Math.min(...named.map(({ invoked }) => invoked))),
    at: by,
    story:
      `${operation.process} ${did} ${key} in store ${store} with token ${mark.token} (op ${operation.id}), and the ` +
      `store accepted it by ${seconds(mark.at)}. ` +
      (late ? `Then ${behind.process} wrote, at ${seconds(behind.invoked)} (op ${behind.id}). ` : '') +
      `After that the store accepted a write of ${write.process} with the lower token ${token} (op ${write.id}, ` +
      `sent at ${seconds(write.invoked)}), which it had to refuse.`,
    evidence: { key, token: token.toString(), highest: mark.token.toString() },
  });
}
