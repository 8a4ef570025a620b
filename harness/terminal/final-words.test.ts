// What a person reads when a run is over: the verdict and where it comes from stand in the first line.

import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { planOf, verdictOf } from '../comparison/made-up-runs.fixture.ts';
import { finalWords } from './final-words.ts';
import { runDirectory } from '../stored/results.ts';

function linesOf(on?: 'simulation', verdict = verdictOf()): readonly string[] {
  const text = finalWords({
    plan: planOf('redis-single/set-nx-px/none', '7', { on }),
    verdict,
    directory: runDirectory('results/r1'),
    cell: undefined,
    replayCommand: 'again',
    oftenCommand: 'often',
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
    const lines = linesOf(undefined, verdictOf({ grade: 'unsafe', broken: ['double-grant'] }));
    expect(lines[0]).toContain('✖ UNSAFE');
    expect(lines).toContain('  found: 1 × double-grant');
    expect(lines.find((line) => line.startsWith('  report:'))).toContain('r1/report.html#/f/f0');
    expect(lines.at(-3)).toMatch(/ explain double-grant$/);
  });
});
