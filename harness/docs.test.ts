// The generated documentation is up to date, and leaves nothing out.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { backends } from './backends/index.ts';
import { catalogue } from './plan/catalogue.ts';
import { cellName } from './plan/cell-name.ts';
import { BACKENDS_PAGE, backendsPage } from './docs.ts';

describe('docs/backends.md', () => {
  const page = backendsPage();

  it('is what the registries say; npm run docs writes it', () => {
    expect(readFileSync(BACKENDS_PAGE, 'utf8')).toBe(`${page}\n`);
  });

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
