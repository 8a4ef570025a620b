// Small histories for tests of rules, written as a story: one call an operation, times in milliseconds. They go through
// the same reader as a file does, so a test cannot make a history that no file could hold.

import { parseHistory } from '../harness/history/json-lines.ts';
import type { History } from '../harness/history/history.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One operation. `span` has its invocation and, if it was ever answered, its completion. */
export interface Step {
  readonly id: number;
  readonly process: string;
  readonly op: string;
  readonly span: readonly [number] | readonly [number, number];
  readonly asks: Fields;
  readonly gets: Fields;
}

/** `gets.type` is the outcome; `ok` if absent. */
export function step(
  id: number,
  process: string,
  op: string,
  span: Step['span'],
  asks: Fields,
  gets: Fields = {},
): Step {
  return { id, process, op, span, asks, gets };
}

/** An acquire of k1 for 1 s that was granted. */
export function granted(id: number, process: string, span: Step['span'], gets: Fields = {}): Step {
  return step(id, process, 'acquire', span, { lock: 'k1', ttlMillis: 1000 }, gets);
}

/** A release of k1 that ended the tenure of its caller. */
export function released(id: number, process: string, span: Step['span'], gets: Fields = {}): Step {
  return step(id, process, 'release', span, { lock: 'k1' }, { released: true, ...gets });
}

const at = (millis: number): number => Math.round(millis * 1e6);

/** The history of these steps; `header` adds to its header, `more` are further lines with times in milliseconds. */
export function historyOf(
  steps: readonly Step[],
  header: Fields = {},
  more: readonly Fields[] = [],
): History {
  const lines: Fields[] = [{ format: 'lockpick-history', version: 1, ...header }];
  for (const { id, process, op, span, asks, gets } of steps) {
    const [invoked, completed] = span;
    lines.push({ type: 'invoke', id, time: at(invoked), process, op, ...asks });
    if (completed !== undefined) lines.push({ type: 'ok', id, time: at(completed), process, op, ...gets });
  }
  for (const line of more) lines.push({ ...line, time: at(Number(line['time'])) });
  return parseHistory(lines.map((line) => JSON.stringify(line)).join('\n'));
}
