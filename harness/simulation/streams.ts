// The standard streams of one simulated process: lines in, lines out, each after the moment that a pipe takes. What was
// written before the process ended still arrives; then the stream ends. What a client records goes the same way, in its
// order, and is never made a text of.

import type { NodeStream } from '../contract/cluster.ts';
import type { HistoryEvent } from '../history/op.ts';
import type { Scheduler } from './scheduler.ts';

export interface Streams {
  /** For whoever started the process. */
  readonly outside: NodeStream;
  /** It belongs to a process that has been started. */
  used: boolean;
  out(line: string): void;
  readonly record: (event: HistoryEvent) => void;
  onIn(listener: (line: string) => void): void;
  end(): void;
}

const PIPE_NANOS = 20_000;

export function openStreams(scheduler: Scheduler): Streams {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const kept: string[] = [];
  const given: string[] = [];
  let listener: ((line: string) => void) | undefined;
  let recordListener: ((event: HistoryEvent) => void) | undefined;
  let input: ((line: string) => void) | undefined;
  let ended = false;
  const later = (action: () => void): void => scheduler.at(scheduler.now + PIPE_NANOS, action);
  return {
    used: false,
    outside: {
      send(line) {
        if (ended) return;
        later(() => (input === undefined ? void given.push(line) : input(line)));
      },
      onLine(wanted) {
        listener = wanted;
        for (const line of kept.splice(0)) wanted(line);
      },
      onEvent(wanted) {
        recordListener = wanted;
      },
      closed,
    },
    out(line) {
      later(() => (listener === undefined ? void kept.push(line) : listener(line)));
    },
    record(event) {
      // Nobody records before somebody listened: a client has been told to begin.
      later(() => recordListener?.(event));
    },
    onIn(wanted) {
      input = wanted;
      for (const line of given.splice(0)) wanted(line);
    },
    end() {
      ended = true;
      later(resolve);
    },
  };
}
