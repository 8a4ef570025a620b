// Operations of a history that is not in our format: what was called, by whom, and what came of it, in the order of the
// file's events. The readers of other formats (`edn.ts`, `porcupine-log.ts`) make these, the model checkers judge them.
// No times: where a file has some they do not order its events, its lines do.

import { HistoryError } from './history.ts';
import type { Outcome } from './op.ts';

/** `null`: nothing, or not told. */
export type CallValue = null | string | readonly CallValue[] | { readonly [key: string]: CallValue };

export function isList(value: CallValue): value is readonly CallValue[] {
  return Array.isArray(value);
}

export function isRecord(value: CallValue): value is { readonly [key: string]: CallValue } {
  return value !== null && typeof value === 'object' && !isList(value);
}

/** A call and its return. Stamps are positions among the events of the file, from 0. */
export interface Call {
  readonly process: string;
  /** As the file names it: `read`, `cas`, `acquire`, `txn` … */
  readonly name: string;
  /** Of a store with many keys. */
  readonly key?: string;
  readonly argument: CallValue;
  readonly result: CallValue;
  readonly invoked: number;
  /** undefined: it never returned (then `outcome` is `info`). */
  readonly returned: number | undefined;
  readonly outcome: Outcome;
  /** Where the file says that it was called, from 1. */
  readonly line: number;
}

export interface CallHistory {
  readonly calls: readonly Call[];
  /** The line of the file, from 1, of each event. */
  readonly lines: readonly number[];
}

export interface CallEvent {
  readonly type: 'invoke' | Outcome;
  readonly process: string;
  readonly name: string;
  readonly key?: string;
  readonly value: CallValue;
  readonly line: number;
}

/**
 * Pairs events, in file order, by process; each has one call open at a time. Throws `HistoryError` with line and rule
 * on a return without a call, a return of another call, or a second call before the first has returned. O(n).
 */
export function pairCalls(events: readonly CallEvent[]): CallHistory {
  const calls: Call[] = [];
  const open = new Map<string, number>();
  for (const [stamp, event] of events.entries()) {
    const { type, process, name, value, line } = event;
    const pending = open.get(process);
    if (type === 'invoke') {
      if (pending !== undefined)
        throw new HistoryError(line, `process ${process} calls ${name} before its last call has returned`);
      open.set(process, calls.length);
      const key = event.key === undefined ? {} : { key: event.key };
      calls.push({
        process,
        name,
        ...key,
        argument: value,
        result: null,
        invoked: stamp,
        returned: undefined,
        outcome: 'info',
        line,
      });
      continue;
    }
    const call = pending === undefined ? undefined : calls[pending];
    if (pending === undefined || call === undefined)
      throw new HistoryError(line, `${name} of process ${process} returns without having been called`);
    if (call.name !== name)
      throw new HistoryError(line, `process ${process} called ${call.name}, and ${name} returns`);
    calls[pending] = { ...call, result: value, returned: stamp, outcome: type };
    open.delete(process);
  }
  return { calls, lines: events.map(({ line }) => line) };
}
