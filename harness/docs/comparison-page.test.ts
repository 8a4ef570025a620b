// What the documentation says of a comparison: a row a lock, what came out otherwise in bold, recipes that are wrong on
// purpose apart; and a summary is kept only beside its runs.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Grade } from '../../checkers/verdict.ts';
import { keepComparison, readmeWith, type KeptComparison } from './comparison-page.ts';

function cell(
  name: string,
  grades: Partial<Record<Grade, number>>,
  hits: number,
): KeptComparison['cells'][number] {
  const trials = Object.values(grades).reduce((sum, count) => sum + count, 0);
  const rate = { hits, trials, low: 0, high: 1 };
  return {
    cell: name,
    simulated: false,
    expected: 'safe',
    outcome: hits === trials ? 'ok' : 'violation',
    grades,
    asExpected: rate,
    breakingFaults: null,
    findings: {},
  };
}

const kept: KeptComparison = {
  schemaVersion: 1,
  profile: 'standard',
  seed: '7',
  totals: { ok: 14, violation: 1 },
  cells: [
    cell('redis-single/set-nx-px/none', { safe: 3 }, 3),
    cell('redis-single/set-nx-px/kill-server', { safe: 2, unsafe: 1 }, 2),
    cell('redis-single/set-nx-px/none/handover', { safe: 3 }, 3),
    cell('redis-single/semaphore/none/permits', { safe: 3 }, 3),
    cell('redis-single/del-unconditional/none', { unsafe: 3 }, 3),
  ],
  started: '2026-11-29',
  host: 'a machine',
};

it('is a row a lock, and what theory did not expect in bold', () => {
  const readme = readmeWith('a<!-- docs/comparison.json -->old<!-- end of docs/comparison.json -->b', kept);
  const rows = readme.replaceAll(/ +/g, ' ').split('\n');
  expect(rows.filter((row) => row.startsWith('| `'))).toEqual([
    '| `redis-single/set-nx-px` | no fault, **kill-server (2 of 3)** | **kill-server (1 of 3)** |',
    '| `redis-single/semaphore` | no fault (permits) | – |',
  ]);
  expect(readme).toContain('5 cells, 15 runs, 1 of them not as theory expects (the cells in bold)');
  expect(readme).toContain('Of 1 recipes that are wrong on purpose 1 were caught in every run.');
  expect(readme).toContain('compare --profile standard --seed 7');
  expect(() => readmeWith('no place', kept)).toThrow('no place');
});

it('is kept only from a summary beside its runs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockpick-docs-'));
  const file = join(folder, 'summary.json');
  writeFileSync(file, JSON.stringify(kept));
  expect(() => keepComparison(file)).toThrow('is not the summary.json of a comparison beside its runs');
  rmSync(folder, { recursive: true });
});
