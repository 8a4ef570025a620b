// What a person reads when a run is over: the verdict and where it comes from stand in the first line.

import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { planOf, verdictOf } from '../comparison/made-up-runs.fixture.ts';
import { finalWords } from './final-words.ts';

function linesOf(on?: 'simulation', verdict = verdictOf(), report?: string): readonly string[] {
  const text = finalWords({
    plan: planOf('redis-single/set-nx-px/none', '7', { on }),
    verdict,
    report,
    cell: undefined,
    replayCommand: 'again',
    closer: report === undefined ? undefined : { label: 'often', command: 'much' },
    stream: process.stdout,
  });
  return stripVTControlCharacters(text).split('\n');
}

describe('the final words', () => {
  it('begin with the grade, the cell and the seed', () => {
    expect(linesOf()[0]).toBe('● SAFE  redis-single/set-nx-px/none  (seed 7)');
  });

  it('say of a simulated run that it was simulated', () => {
    expect(linesOf('simulation')[0]).toBe('● SAFE  redis-single/set-nx-px/none  (simulated, seed 7)');
  });

  it('lead from a finding to its page and its meaning', () => {
    const unsafe = verdictOf({ grade: 'unsafe', broken: ['double-grant'] });
    const lines = linesOf(undefined, unsafe, 'results/r1/report.html');
    expect(lines[0]).toContain('✖ UNSAFE');
    expect(lines).toContain('  found: 1 × double-grant');
    expect(lines.find((line) => line.startsWith('  report:'))).toContain('r1/report.html#/f/f0');
    expect(lines).toContain('  often:  much');
    expect(lines.at(-3)).toMatch(/ explain double-grant$/);
    // Not to what was not kept.
    const dropped = linesOf(undefined, unsafe);
    expect(dropped.filter((line) => /report:|often:/.test(line))).toEqual([]);
    expect(dropped).toContain('  again:  again');
  });
});
