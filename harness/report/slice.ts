// What one takes along from a finding: a text for an issue, and the lines of the history that it names, which are a
// history by themselves. Pure.

import type { Finding } from '../../checkers/verdict.ts';
import { faultPhrase, list, seconds } from '../../checkers/wording.ts';
import type { Operation, Write } from '../history/history.ts';
import { encodeEvent, encodeHeader } from '../history/encode-event.ts';
import type { Completion, HistoryEvent, Invoke } from '../history/op.ts';
import { circumstances, headline, type RunView } from './run-view.ts';
import { clause, name } from './words.ts';

/** Markdown: what, where, how to see it again. */
export function issueText(view: RunView, finding: Finding): string {
  const { plan, provenance } = view.run;
  const faults = finding.faults.flatMap((id) => view.faults.get(id) ?? []);
  return [
    `## ${finding.code}: ${headline(view, finding)}${circumstances(view, finding)}`,
    '',
    finding.story,
    '',
    `- cell: \`${view.cell}/${name(plan.fault)}\`, workload ${name(plan.workload)}, seed ${name(plan.seed)}`,
    `- complete at ${seconds(finding.at)}; operations ${list(finding.ops.map((id) => `#${id}`))}`,
    ...faults.map((fault) => `- ${clause(faultPhrase(fault))}`),
    ...Object.entries(provenance.images).map(
      ([image, { digest }]) => `- image ${name(image)}: ${name(digest)}`,
    ),
    '',
    'Run it again:',
    '',
    '```',
    provenance.replayCommand,
    '```',
  ].join('\n');
}

const SLICE_CHARACTERS_MAX = 20_000;

/** The named operations and faults, as lines of `history.jsonl`. */
export function sliceText(view: RunView, finding: Finding): string {
  const named = finding.ops.flatMap((id) => view.operations.get(id) ?? []);
  const events: HistoryEvent[] = [
    ...named.flatMap(eventsOf),
    ...finding.faults.flatMap((id) => {
      const fault = view.faults.get(id);
      if (fault === undefined) return [];
      const { fault: kind, targets, params, evidence, begin, acted, end } = fault;
      const common = { type: 'fault', id, fault: kind, targets } as const;
      return [
        { ...common, phase: 'begin', time: begin, params } as const,
        ...(acted === undefined ? [] : [{ ...common, phase: 'acted', time: acted, evidence } as const]),
        ...(end === undefined ? [] : [{ ...common, phase: 'end', time: end } as const]),
      ];
    }),
  ];
  const lines = events.toSorted((a, b) => a.time - b.time).map((event) => encodeEvent(event));
  const text = [encodeHeader(view.run.history.header), ...lines].join('\n');
  return text.length <= SLICE_CHARACTERS_MAX ? text : 'Too long for this page: see history.jsonl of the run.';
}

/** What its client said before and after. */
function eventsOf(operation: Operation): HistoryEvent[] {
  const { id, process, op, invoked, completed, outcome, error } = operation;
  const common = { id, process, op };
  const invoke: Invoke = { type: 'invoke', time: invoked, ...common, ...argumentsOf(operation) };
  if (completed === undefined) return [invoke];
  const completion: Completion = {
    type: outcome,
    time: completed,
    ...common,
    ...(error !== undefined && { error }),
    ...answerOf(operation),
  };
  return [invoke, completion];
}

function argumentsOf(operation: Operation): Partial<Invoke> {
  switch (operation.op) {
    case 'acquire': {
      const { lock, shared, ttlMillis, owner } = operation;
      return {
        lock,
        try: operation.try,
        ...(shared !== undefined && { shared }),
        ...(ttlMillis !== undefined && { ttlMillis }),
        ...(owner !== undefined && { owner }),
      };
    }
    case 'renew':
      return {
        lock: operation.lock,
        ...(operation.ttlMillis !== undefined && { ttlMillis: operation.ttlMillis }),
      };
    case 'release':
      return { lock: operation.lock };
    case 'read':
    case 'write':
    case 'cas': {
      const { store, key, lock, token, order } = operation;
      return {
        store,
        key,
        ...(lock !== key && { lock }),
        ...(token !== undefined && { token }),
        ...(order !== undefined && { order }),
        ...(operation.op !== 'read' && writtenBy(operation)),
      };
    }
  }
}

function writtenBy({ value, base, add }: Write): Partial<Invoke> {
  return { value, ...(base !== undefined && { base }), ...(add !== undefined && { add }) };
}

function answerOf(operation: Operation): Partial<Completion> {
  switch (operation.op) {
    case 'acquire':
    case 'renew': {
      const token = operation.op === 'acquire' ? operation.token : undefined;
      const { validUntil } = operation;
      return { ...(token !== undefined && { token }), ...(validUntil !== undefined && { validUntil }) };
    }
    case 'release':
      return operation.released === undefined ? {} : { released: operation.released };
    case 'read': {
      // The store's own record would be most of it, and no finding's text.
      const { value, version, applied } = operation;
      return {
        ...(value !== undefined && { value }),
        ...(version !== undefined && { version }),
        ...(applied !== undefined && { applied }),
      };
    }
    case 'write':
    case 'cas': {
      const { version, highest } = operation;
      return { ...(version !== undefined && { version }), ...(highest !== undefined && { highest }) };
    }
  }
}
