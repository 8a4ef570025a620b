// The table in the README is the one that the kept results give.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { README_PATH, readResults, tableIn, tableOf, withTable } from './table.ts';
import { ROWS } from './rows.ts';

it('stands in the README as it was measured', () => {
  expect(tableIn(readFileSync(README_PATH, 'utf8'))).toBe(tableOf(readResults()));
});

it('has only rows that can be measured again, and each verdict is the one that the history was made for', () => {
  const made = new Map(ROWS.map((row) => [row.name, row.shape]));
  const { rows, seconds } = readResults();
  expect(rows.length).toBeGreaterThan(0);
  for (const { name, ours, porcupine } of rows) {
    const expected = made.get(name)?.violation === 'none' ? 'valid' : 'invalid';
    expect([name, ours.verdict]).toEqual([name, expected]);
    // Porcupine may give up, when its time is over; what it says agrees.
    expect([expected, undefined, 'unknown', 'out of memory']).toContain(porcupine?.verdict);
  }
  const given = rows.filter(({ porcupine }) => porcupine?.verdict === 'unknown');
  expect(given.map(({ porcupine }) => porcupine?.checkMillis)).toEqual(given.map(() => 1000 * seconds));
  expect(rows.every(({ name }) => made.has(name))).toBe(true);
});

it('is put between the markers, and nowhere else', () => {
  const readme = 'a\n<!-- bench/models.json -->old<!-- end of bench/models.json -->\nb';
  expect(withTable(readme, 'new')).toBe(readme.replace('old', 'new'));
  expect(() => withTable('a', 'new')).toThrow('no place');
});
