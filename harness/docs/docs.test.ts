// The generated documentation is up to date, and leaves nothing out.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { backends } from '../backends/index.ts';
import { catalogue } from '../plan/catalogue.ts';
import { cellName } from '../plan/cell-name.ts';
import { LIVENESS_CODES, SAFETY_CODES } from '../../checkers/verdict.ts';
import { backendsPage } from './backends-page.ts';
import { generatedPages } from './pages.ts';
import { verdictsPage } from './verdicts-page.ts';

const root = join(import.meta.dirname, '../..');

describe('the generated pages', () => {
  it.each([...generatedPages()])('%s is what its sources say; npm run docs writes it', (path, text) => {
    expect(readFileSync(join(root, path), 'utf8')).toBe(text);
  });
});

describe('docs/verdicts.md', () => {
  it('shows every finding with a picture, and no operation that the history lacks', () => {
    const files = verdictsPage();
    const page = files.get('docs/verdicts.md') ?? '';
    for (const code of [...SAFETY_CODES, ...LIVENESS_CODES]) {
      expect(page).toContain(`## ${code}\n`);
      expect(files.get(`docs/verdicts/${code}.svg`)).toContain('<rect class="d-');
    }
  });
});

describe('docs/backends.md', () => {
  const page = backendsPage();

  it('names every variant, recipe, error and cell', () => {
    const names = [
      ...backends.flatMap(({ variants = [], recipes, errors }) => [
        ...[...variants, ...recipes].map(({ name }) => name),
        ...errors.map(({ error }) => error),
      ]),
      ...catalogue.map(cellName),
    ];
    expect(names.filter((name) => !page.includes(`| \`${name}\` |`))).toEqual([]);
  });

  it('has no empty cell, and as many cells in every row as in its head', () => {
    const tables = page.split('\n\n').filter((block) => block.startsWith('|'));
    expect(tables).toHaveLength(4 * backends.length);
    for (const table of tables) {
      const widths = table.split('\n').map((row) => row.split(/(?<!\\)\|/).length);
      expect(new Set(widths).size).toBe(1);
      expect(table).not.toMatch(/\|[ ]*\|/);
    }
  });
});
