// Public histories with known verdicts, from the suites of Knossos and Porcupine. They are not part of the project: where
// the folder is missing the test is skipped, and counted as such.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkHistory } from '../check.ts';

const folder = join(import.meta.dirname, '../../../shared/histories');
const table = join(folder, 'verdicts.tsv');
const rows = existsSync(table)
  ? readFileSync(table, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split('\t'))
  : [];

/** `words`: the model and how the file is read, as the table says it. `at`: the position of the refuted answer. */
function judged(file: string, words: string): { verdict: string; at: number | undefined } {
  const [model = ''] = words.split(' ');
  const initial = /initial (\w+)/.exec(words)?.[1];
  const { verdict, findings } = checkHistory(readFileSync(join(folder, file), 'utf8'), {
    model,
    ...(initial !== undefined && { initial }),
    ...(model === 'multi-register' && { initial: '0' }),
    failedCas: words.includes('a failed cas is evidence') ? 'evidence' : 'ignored',
  });
  return { verdict, at: findings[0]?.at };
}

describe('public histories', () => {
  it.skipIf(rows.length === 0)('are here', () => {
    expect(rows.length).toBeGreaterThan(100);
  });

  it.each(rows)('%s, %s: %s %s', (file = '', model = '', verdict = '', blamed = '') => {
    const found = judged(file, model);
    expect(found.verdict).toBe(verdict);
    const [, index] = /index (\d+)/.exec(blamed) ?? [];
    expect(found.at).toBe(index === undefined ? found.at : Number(index));
  });
});
