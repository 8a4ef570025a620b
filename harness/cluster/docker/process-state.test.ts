// When a process counts as stopped, from either source.

import { describe, expect, it } from 'vitest';
import { isStopped, parseStat, parseTop, readThreads, type Thread } from './process-state.ts';

const thread = (pid: number, parent: number, state: string): Thread => ({ pid, parent, state });

describe('isStopped', () => {
  it('asks every thread', () => {
    expect(isStopped([thread(7, 1, 'T'), thread(7, 1, 'T')], 7)).toBe(true);
    expect(isStopped([thread(7, 1, 'T'), thread(7, 1, 'S')], 7)).toBe(false);
  });

  it('asks the children: a stopped postmaster with running backends is not stopped', () => {
    const family = [thread(7, 1, 'T'), thread(8, 7, 'T'), thread(9, 8, 'S')];
    expect(isStopped(family, 7)).toBe(false);
    expect(isStopped(family.toReversed(), 7)).toBe(false);
  });

  it('does not ask a command that was exec-ed into the container', () => {
    expect(isStopped([thread(7, 1, 'T'), thread(30, 1, 'S')], 7)).toBe(true);
  });

  it('does not ask the dead', () => {
    expect(isStopped([thread(7, 1, 'T'), thread(8, 7, 'Z')], 7)).toBe(true);
    expect(isStopped([thread(7, 1, 'Z')], 7)).toBeUndefined();
    expect(isStopped([], 7)).toBeUndefined();
  });

  it('does not take another process, a tracer or an uninterruptible sleep for a stop', () => {
    expect(isStopped([thread(7, 1, 't')], 7)).toBe(false);
    expect(isStopped([thread(7, 1, 'D')], 7)).toBe(false);
  });
});

describe('parseTop', () => {
  it('reads the first letter of each row', () => {
    const answer = {
      Titles: ['PID', 'PPID', 'STAT'],
      Processes: [
        ['12028', '12005', 'Tsl'],
        ['12029', '12028', 'S+'],
      ],
    };
    expect(parseTop(answer)).toEqual([thread(12028, 12005, 'T'), thread(12029, 12028, 'S')]);
  });

  it('refuses what it does not know', () => {
    expect(() => parseTop(null)).toThrow(SyntaxError);
    expect(() => parseTop({ Processes: [['1', '2']] })).toThrow(SyntaxError);
  });
});

describe('parseStat', () => {
  it('is not misled by the name of the process', () => {
    expect(parseStat('12 (a) T 1 (b) S 345 12 12')).toEqual({ state: 'S', parent: 345 });
  });
});

describe('readThreads', () => {
  it('does not mistake a process of the same id for one of the container', () => {
    expect(readThreads(process.pid, 'f'.repeat(64))).toBeUndefined();
  });
});
