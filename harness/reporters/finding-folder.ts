// One finding as a folder to hand on (6.2): the story in words, the part of the history that it is about, and the
// command that makes the run again. The part is a history by itself: `lockpick check` reads it.

import type { Finding } from '../../checkers/verdict.ts';
import { grantsOf, type Grant } from '../history/grants.ts';
import type { FaultSpan, History, Operation } from '../history/history.ts';
import { decodeEvent } from '../history/json-lines.ts';
import type { HistoryEvent } from '../history/op.ts';

/** Around the operations of a finding. */
const MARGIN_NANOS = 2e9;

/** story.md */
export function storyMarkdown(
  finding: Finding,
  context: { readonly cell: string; readonly run: string; readonly replay: string },
): string {
  const { id, code, lock, store, processes, ops, at, faults, story } = finding;
  const facts: readonly (readonly [string, string])[] = [
    ['cell', context.cell],
    ['run', context.run],
    ['at', `${(at / 1e9).toFixed(3)} s`],
    ...(lock === undefined ? [] : [['lock', lock] as const]),
    ...(store === undefined ? [] : [['store', store] as const]),
    ['processes', processes.join(', ')],
    ['operations', ops.map((op) => `#${op}`).join(', ')],
    ['faults in force', faults.join(', ') || 'none'],
  ];
  return [
    `# ${code} (${id})`,
    '',
    story,
    '',
    ...facts.map(([name, value]) => `- ${name}: ${value}`),
    '',
    'Run it again:',
    '',
    `    ${context.replay}`,
    '',
    `What it means and what to do: \`lockpick explain ${code}\`.`,
    '',
    'The numbers:',
    '',
    '```json',
    JSON.stringify(finding.evidence, null, 2),
    '```',
    '',
  ].join('\n');
}

/**
 * The lines of `text`, a whole history, that the finding is about: the operations on its lock around it, and of what is
 * held there from its beginning to its end; all on its store with the store's own record; faults in force, and ends of
 * processes. O(size log size) for each call.
 */
export function historySlice(text: string, history: History, finding: Finding): string {
  const { from, until } = windowOf(history, finding);
  const operations = new Set([
    ...history.operations
      .filter((operation) => concerns(operation, finding, from, until))
      .map(({ id }) => id),
    ...grantsOf(history).flatMap((grant) => (isHeld(grant, finding, from, until) ? partsOf(grant) : [])),
  ]);
  const faults = new Set(history.faults.filter((fault) => inForce(fault, from, until)).map(({ id }) => id));
  const [header = '', ...lines] = text.split('\n');
  const kept = lines.filter((line, index) => {
    if (line === '') return false;
    const event = eventOf(line, index + 2);
    if (event === undefined) return false;
    if (event.type === 'down') return true;
    if (event.type === 'fault') return faults.has(event.id);
    if ('op' in event) return operations.has(event.id);
    if (event.type === 'lost') return event.lock === finding.lock;
    return event.time >= from && event.time <= until;
  });
  return `${[header, ...kept].join('\n')}\n`;
}

/** undefined: the torn last line of a run that was killed. */
function eventOf(line: string, number: number): HistoryEvent | undefined {
  try {
    return decodeEvent(line, number);
  } catch {
    return undefined;
  }
}

function windowOf({ operations }: History, { ops, at }: Finding): { from: number; until: number } {
  const named = new Set(ops);
  const begins = operations.filter(({ id }) => named.has(id)).map(({ invoked }) => invoked);
  return { from: Math.min(at, ...begins) - MARGIN_NANOS, until: at + MARGIN_NANOS };
}

function concerns(operation: Operation, { lock, store, ops }: Finding, from: number, until: number): boolean {
  if (ops.includes(operation.id)) return true;
  if (lock !== undefined && operation.lock !== lock) return false;
  // A store's record names all that was written there, and is none without it.
  if (store !== undefined && 'store' in operation) return operation.store === store;
  if (operation.op === 'read' && operation.audit !== undefined) return false;
  return operation.invoked <= until && (operation.completed ?? until) >= from;
}

/** Without its end it would seem to have been held for longer than it was. */
function isHeld({ acquire, lock, release }: Grant, finding: Finding, from: number, until: number): boolean {
  if (lock !== finding.lock || acquire.invoked > until) return false;
  return (release?.completed ?? until) >= from;
}

function partsOf({ acquire, renewals, release }: Grant): number[] {
  return [acquire, ...renewals, ...(release === undefined ? [] : [release])].map(({ id }) => id);
}

function inForce({ begin, end }: FaultSpan, from: number, until: number): boolean {
  return begin <= until && (end === undefined || end >= from);
}
