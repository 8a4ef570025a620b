// What is seen while a run goes on: one line that is rewritten on a terminal and never longer than it is wide, a plain
// line every ten seconds elsewhere.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { millis, nanos, type HistoryEvent } from '../history/op.ts';
import { showProgress, type Screen } from './progress.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'hrtime'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function screen(columns?: number): Screen & { readonly written: string[] } {
  const written: string[] = [];
  return {
    written,
    write: (text) => written.push(text),
    ...(columns !== undefined && { isTTY: true, columns }),
  };
}

function acquired(id: number, process: string): HistoryEvent[] {
  const time = nanos(id);
  return [
    { type: 'invoke', id, time, process, op: 'acquire', lock: 'k1', ttlMillis: millis(1000) },
    { type: 'ok', id, time, process, op: 'acquire' },
  ];
}

const paused: HistoryEvent = {
  type: 'fault',
  phase: 'begin',
  id: 'f1',
  time: nanos(5),
  fault: 'pause',
  targets: ['c1'],
};

describe('away from a terminal', () => {
  it('is a plain line when the load begins and every ten seconds', () => {
    const plain = screen();
    using progress = showProgress(plain, 'a/b/c', 30_000);
    progress.phase('starting');
    vi.advanceTimersByTime(2_000);
    expect(plain.written).toEqual([]);
    progress.phase('running');
    for (const event of [...acquired(1, 'c1'), ...acquired(2, 'c2'), paused]) progress.event(event);
    vi.advanceTimersByTime(8_000);
    expect(plain.written).toEqual([
      'a/b/c · running · 0.0/30 s · 0 op/s · 0 holding · no fault\n',
      'a/b/c · running · 8.0/30 s · 0 op/s · 1 holding · pause c1 · overlaps so far: 1\n',
    ]);
    vi.advanceTimersByTime(20_000);
    expect(plain.written).toHaveLength(4);
    progress[Symbol.dispose]();
    vi.advanceTimersByTime(60_000);
    expect(plain.written).toHaveLength(4);
  });
});

describe('on a terminal', () => {
  it('is one line, rewritten, cut to the width, and gone at the end', () => {
    const terminal = screen(40);
    const progress = showProgress(terminal, 'redis-single/fenced-incr/pause-holder', 30_000);
    progress.phase('running');
    progress.event(paused);
    vi.advanceTimersByTime(1_000);
    progress.event({ ...paused, phase: 'end' });
    expect(terminal.written.length).toBeGreaterThan(4);
    for (const text of terminal.written) {
      expect(text.startsWith('\r\u001B[K')).toBe(true);
      expect(text).not.toContain('\n');
      expect(text.length).toBeLessThanOrEqual(39 + '\r\u001B[K'.length);
    }
    progress[Symbol.dispose]();
    expect(terminal.written.at(-1)).toBe('\r\u001B[K');
  });
});
