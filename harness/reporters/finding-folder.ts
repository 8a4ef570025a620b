// One finding as a folder to hand on (6.2): the story in words, the part of the history that it is about, and the
// command that makes the run again. The part is a history by itself: `lockpick check` reads it.

import type { Finding } from '../../checkers/verdict.ts';
import { seconds } from '../../checkers/wording.ts';
import { grantsOf, type Grant } from '../history/grants.ts';
import type { FaultSpan, History, Operation } from '../history/history.ts';
import { decodeEvent } from '../history/decode-event.ts';
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
    ['at', seconds(at)],
    ...(lock === undefined ? [] : [['lock', lock] as const]),
    ...(store === undefined ? [] : [['store', store] as const]),
    ['processes', processes.join(', ')],
    ['operations', ops.map((op) => `#${op}`).join(', ')],
    ['faults about that time', faults.join(', ') || 'none'],
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
 * Of each finding those of `lines`, which are a whole history, that it is about: the operations on its lock around it, and
 * of what is held there from its beginning to its end; all on its store with the store's own record; faults, and
 * ends of processes. Goes over the lines once. O(size log size + findings × size).
 */
export function historySlices(
  lines: Iterable<string>,
  history: History,
  findings: readonly Finding[],
): readonly string[] {
  const grants = grantsOf(history);
  const slices = findings.map((finding) => ({
    kept: new Array<string>(),
    isAbout: aboutOf(history, grants, finding),
  }));
  let number = 0;
  for (const line of lines) {
    number += 1;
    const event = number === 1 ? undefined : eventOf(line, number);
    for (const { kept, isAbout } of slices)
      if (number === 1 || (event !== undefined && isAbout(event))) kept.push(line);
  }
  return slices.map(({ kept }) => `${kept.join('\n')}\n`);
}

/** Whether a finding is about an event. */
function aboutOf(
  history: History,
  grants: readonly Grant[],
  finding: Finding,
): (event: HistoryEvent) => boolean {
  const { from, until } = windowOf(history, finding);
  const operations = new Set([
    ...history.operations
      .filter((operation) => concerns(operation, finding, from, until))
      .map(({ id }) => id),
    ...grants.flatMap((grant) => (isHeld(grant, finding, from, until) ? partsOf(grant) : [])),
  ]);
  const faults = new Set(history.faults.filter((fault) => inForce(fault, from, until)).map(({ id }) => id));
  return (event) => {
    if (event.type === 'down') return true;
    if (event.type === 'fault') return faults.has(event.id);
    if ('op' in event) return operations.has(event.id);
    if (event.type === 'lost') return event.lock === finding.lock;
    return event.time >= from && event.time <= until;
  };
}

/** undefined: a blank line, or the torn last one of a run that was killed. */
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
