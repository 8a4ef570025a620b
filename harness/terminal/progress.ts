// What a person sees on stderr while a run goes on (6.1): one line that is rewritten on a terminal, a plain line every
// 10 s elsewhere. Reads the run's events as they pass; nothing here is evidence.

import { monotonicClock, monotonicOrigin } from '../clock.ts';
import type { HistoryEvent } from '../history/op.ts';
import { Tracker } from '../nemesis/tracker.ts';
import type { RunObserver, RunPhase } from '../run.ts';

const TERMINAL_EVERY_MILLIS = 200;
const PLAIN_EVERY_MILLIS = 10_000;

export interface Screen {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** An observer that draws until it is disposed. `title` names the cell; `timeLimitMillis` is that of the load. */
export function showProgress(
  screen: Screen,
  title: string,
  timeLimitMillis: number,
): RunObserver & Disposable {
  const clock = monotonicClock(monotonicOrigin());
  const tracker = new Tracker();
  const faults = new Map<string, string>();
  let phase: RunPhase = 'starting';
  let phaseBegan = 0;
  let operations = 0;
  let counted = { operations: 0, at: 0, rate: 0 };

  const line = (): string => {
    const now = clock.now();
    if (now - counted.at >= 1e9)
      counted = { operations, at: now, rate: ((operations - counted.operations) * 1e9) / (now - counted.at) };
    const parts = [title, phase];
    if (phase === 'running') {
      parts.push(
        `${seconds(now - phaseBegan)}/${timeLimitMillis / 1000} s`,
        `${Math.round(counted.rate)} op/s`,
        `${tracker.holders().length} holding`,
      );
      parts.push(faults.size === 0 ? 'no fault' : [...faults.values()].join(' + '));
      if (tracker.takeovers > 0) parts.push(`overlaps so far: ${tracker.takeovers}`);
    } else parts.push(`${seconds(now - phaseBegan)} s`);
    return parts.join(' · ');
  };
  const drawn = drawing(screen, line);

  return {
    phase: (next) => {
      phase = next;
      phaseBegan = clock.now();
      if (screen.isTTY === true || next === 'running') drawn.draw();
    },
    event: (event: HistoryEvent) => {
      if (event.type === 'invoke') operations += 1;
      tracker.observe(event);
      if (event.type !== 'fault') return;
      if (event.phase === 'end') faults.delete(event.id);
      else faults.set(event.id, `${event.fault} ${event.targets.join(',')}`);
    },
    [Symbol.dispose]: () => drawn[Symbol.dispose](),
  };
}

/** Runs that are over. */
export interface Count {
  /** One more; `title` names it. */
  next(title: string): void;
}

/** As `showProgress`, of so many runs of which several go on at once. */
export function showCount(screen: Screen, total: number): Count & Disposable {
  const clock = monotonicClock(monotonicOrigin());
  let over = 0;
  let last = '';
  const drawn = drawing(
    screen,
    () => `[${over}/${total}] ${seconds(clock.now())} s${last === '' ? '' : ` · ${last}`}`,
  );
  return {
    next: (title) => {
      over += 1;
      last = title;
    },
    [Symbol.dispose]: () => drawn[Symbol.dispose](),
  };
}

/** Draws the line now and again until it is disposed; a terminal is left without it. */
function drawing(screen: Screen, line: () => string): { draw(): void } & Disposable {
  const terminal = screen.isTTY === true;
  const draw = (): void => {
    if (!terminal) screen.write(`${line()}\n`);
    else screen.write(`\r\u001B[K${line().slice(0, Math.max(20, (screen.columns ?? 80) - 1))}`);
  };
  const timer = setInterval(draw, terminal ? TERMINAL_EVERY_MILLIS : PLAIN_EVERY_MILLIS);
  return {
    draw,
    [Symbol.dispose]: () => {
      clearInterval(timer);
      if (terminal) screen.write('\r\u001B[K');
    },
  };
}

const seconds = (nanos: number): string => (nanos / 1e9).toFixed(1);
