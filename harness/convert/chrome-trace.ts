// A history as a Chrome trace ("Trace Event Format", JSON object form), for the trace viewers of browsers and Perfetto: what
// clients did, who believed to hold which lock, what faults were in force. A viewer's rows take one thing at a time, so
// what overlaps gets another row. Times are microseconds; what did not end is drawn up to `until`.

import type { FaultSpan, Operation } from '../history/history.ts';
import type { Grant } from '../history/grants.ts';
import { createLanes, type Lanes } from './lanes.ts';

export interface Traced {
  readonly operations: readonly Operation[];
  readonly grants: readonly Grant[];
  readonly faults: readonly FaultSpan[];
  /** Nanoseconds. */
  readonly until: number;
}

interface Span {
  /** Whose row it is in. */
  readonly row: string;
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The groups of rows, in the order of a viewer: a process of the format each. */
const GROUPS = ['clients', 'locks: who believed to hold them', 'faults'] as const;

/** O(n log n). */
export function* chromeTraceLines(traced: Traced): Generator<string> {
  yield '{"displayTimeUnit":"ms","traceEvents":[';
  let separator = '\n';
  for (const event of traceEvents(traced)) {
    yield `${separator}${JSON.stringify(event)}`;
    separator = ',\n';
  }
  yield '\n]}\n';
}

/** `ph` M names rows and groups, X is a span. */
function* traceEvents({ operations, grants, faults, until }: Traced): Generator<object> {
  const groups = [
    operations.map((operation) => operationSpan(operation, until)),
    grants.map((grant) => holdSpan(grant, until)),
    faults.map((fault) => faultSpan(fault, until)),
  ];
  for (const [pid, spans] of groups.entries()) {
    const lanes = createLanes();
    const named = new Set<number>();
    yield { ph: 'M', name: 'process_name', pid, tid: 0, args: { name: GROUPS[pid] } };
    yield { ph: 'M', name: 'process_sort_index', pid, tid: 0, args: { sort_index: pid } };
    for (const { span, lane: tid } of inLanes(spans, lanes)) {
      const { row, name, from, to, args } = span;
      if (!named.has(tid)) yield { ph: 'M', name: 'thread_name', pid, tid, args: { name: row } };
      named.add(tid);
      yield { ph: 'X', name, pid, tid, ts: from / 1e3, dur: (to - from) / 1e3, args };
    }
  }
}

function holdSpan({ process, lock, token, hold, acquire }: Grant, until: number): Span {
  return {
    row: lock,
    name: process,
    from: hold.start,
    to: Math.max(hold.start, Math.min(hold.end, until)),
    args: { id: acquire.id, ...(token !== undefined && { token: String(token) }), endedBy: hold.endedBy },
  };
}

function faultSpan({ id, fault, targets, begin, acted, end }: FaultSpan, until: number): Span {
  return {
    row: fault,
    name: `${fault} ${targets.join(' ')}`,
    from: begin,
    to: Math.max(begin, end ?? until),
    args: { id, targets, acted: acted ?? null },
  };
}

function operationSpan(operation: Operation, until: number): Span {
  const { id, process, op, outcome, invoked, completed, error } = operation;
  const subject = 'store' in operation ? `${operation.store}/${operation.key}` : operation.lock;
  const token = 'token' in operation ? operation.token : undefined;
  return {
    row: process,
    name: `${op} ${subject}${outcome === 'ok' ? '' : ` (${error ?? outcome})`}`,
    from: invoked,
    to: Math.max(invoked, completed ?? until),
    args: {
      id,
      outcome,
      ...(error !== undefined && { error }),
      ...(token !== undefined && { token: String(token) }),
      ...('value' in operation && operation.value !== undefined && { value: operation.value }),
    },
  };
}

/** Each span with a lane in which no other one overlaps it. Touching is no overlap. */
function* inLanes(spans: readonly Span[], lanes: Lanes): Generator<{ span: Span; lane: number }> {
  const byBegin = spans.toSorted((a, b) => a.from - b.from);
  /** By row: the lanes in use, with their ends. */
  const busy = new Map<string, { lane: number; end: number }[]>();
  for (const span of byBegin) {
    const before = busy.get(span.row) ?? [];
    const still = before.filter(({ end }) => end > span.from);
    for (const { lane, end } of before) if (end <= span.from) lanes.free(span.row, lane);
    const lane = lanes.take(span.row);
    busy.set(span.row, [...still, { lane, end: span.to }]);
    yield { span, lane };
  }
}
