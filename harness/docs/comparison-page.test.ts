// What the documentation says of a comparison: a row a lock, what came out otherwise in bold, recipes that are wrong on
// purpose apart; and a summary is kept only beside its runs.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Grade, SafetyCode } from '../../checkers/verdict.ts';
import { comparisonPage, readmeWith } from './comparison-page.ts';
import { keepComparison, type KeptComparison } from './kept-comparison.ts';

function cell(
  name: string,
  grades: Partial<Record<Grade, number>>,
  hits: number,
  breaking: Partial<Record<SafetyCode, number>> = {},
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
    breakingFaults: { hits: 2, trials: 10, low: 0, high: 1 },
    breakingFaultsByCode: breaking,
    breakingRunsByCode: Object.keys(breaking).length === 0 ? {} : { 'double-grant': 1 },
    findings: {},
  };
}

const kept: KeptComparison = {
  schemaVersion: 1,
  profile: 'standard',
  seed: '7',
  totals: { ok: 18, violation: 1, inconclusive: 1 },
  cells: [
    cell('redis-single/set-nx-px/none', { safe: 3 }, 3),
    cell('redis-single/set-nx-px/kill-server', { safe: 2, unsafe: 1 }, 2, { 'double-grant': 1 }),
    cell('redis-single/set-nx-px/pause-holder', { unsafe: 3 }, 3, { 'belief-overlap': 9, 'lost-update': 3 }),
    cell('redis-single/set-nx-px/pause-holder/cron', { unsafe: 2 }, 2, { 'belief-overlap': 10 }),
    cell('redis-single/set-nx-px/none/handover', { safe: 3 }, 3),
    cell('redis-single/semaphore/none/permits', { safe: 3 }, 3),
    cell('redis-single/del-unconditional/none', { unsafe: 3 }, 3),
  ],
  started: '2026-11-29',
  host: 'a machine',
  versions: ['etcd 3.5.16'],
  remarks: ['One run was made again.'],
};

it('says in the README how often each lock was lost', () => {
  const readme = readmeWith('a<!-- docs/comparison.json -->old<!-- end of docs/comparison.json -->b', kept);
  expect(rowsOf(readme)).toEqual([
    '| `redis-single/set-nx-px` | 33 % [0.84, 91] of 3 runs, 10 faults | – | – | 95 % [75, 100] of 20 faults | – |',
  ]);
  expect(readme).toContain(
    '7 cells, 20 runs, 2 to 3 of a cell, 1 of them not as theory expects and 1 of them inconclusive (in bold in docs/comparison.md)',
  );
  expect(readme).toContain('Of 1 recipes that are wrong on purpose 1 were caught in every run.');
  expect(readme).toContain(
    'In the 17 runs of the 6 cells of right recipes that theory calls safe nothing was found.',
  );
  expect(readme).toContain('compare --profile standard --seed 7');
  expect(readme).toContain('Servers: etcd 3.5.16. One run was made again.');
  const [first, ...others] = kept.cells;
  const found = first === undefined ? [] : [{ ...first, findings: { 'double-grant': 2 } }, ...others];
  expect(
    readmeWith('<!-- docs/comparison.json --><!-- end of docs/comparison.json -->', {
      ...kept,
      cells: found,
    }),
  ).toContain('that theory calls safe 2 findings were found.');
  expect(() => readmeWith('no place', kept)).toThrow('no place');
});

it('is a row a lock, and what theory did not expect in bold', () => {
  expect(rowsOf(comparisonPage(kept)).slice(0, 2)).toEqual([
    '| `redis-single/set-nx-px` | no fault, **kill-server (2 of 3)** | **kill-server (1 of 3)**, pause-holder |',
    '| `redis-single/semaphore` | no fault (permits) | – |',
  ]);
});

function rowsOf(page: string): readonly string[] {
  return page
    .replaceAll(/ +/g, ' ')
    .split('\n')
    .filter((row) => row.startsWith('| `'));
}

it('is kept only from a summary beside its runs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockpick-docs-'));
  const file = join(folder, 'summary.json');
  writeFileSync(file, JSON.stringify(kept));
  expect(() => keepComparison(file, () => {})).toThrow(
    'is not the summary.json of a comparison beside its runs',
  );
  rmSync(folder, { recursive: true });
});
