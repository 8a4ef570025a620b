// A table read back by a parser of Markdown: whatever is in a cell, the row has as many cells as its head, and each says
// what was put into it.

import * as fc from 'fast-check';
import { format } from 'prettier';
import { parsers } from 'prettier/plugins/markdown';
import { describe, expect, it } from 'vitest';
import { inlineCode, markdownTable, plain } from './markdown-table.ts';

interface Syntax {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly Syntax[];
}

/** Row by row, cell by cell, what a reader sees. */
async function cellsOf(lines: readonly string[]): Promise<readonly (readonly string[])[]> {
  const root = (await parsers.markdown.parse(lines.join('\n'), {} as never)) as Syntax;
  const [table, ...more] = root.children ?? [];
  if (table?.type !== 'table' || more.length > 0) throw new Error(`no table: ${lines.join('\n')}`);
  return (table.children ?? []).map(({ children = [] }) => children.map(wordsOf));
}

function wordsOf({ type, value = '', children = [] }: Syntax): string {
  return type === 'html' ? '' : value + children.map(wordsOf).join('');
}

function folded(text: string): string {
  return text.replace(/\s+/g, ' ');
}

/** What ends cells, code and lines, and what does nothing. */
const hostile = fc
  .array(
    fc.constantFrom('|', '\\', '`', '``', '*', '_', '<b>', '&amp;', '#', '\n', ' ', 'a', 'b', 'é', '𝄞'),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  .map((parts) => `a${parts.join('')}b`);

describe('a table', () => {
  it('has the cells that were put into it, and text in them says itself', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, hostile, async (code, prose) => {
        const rows = [
          ['head', 'other'],
          [inlineCode(code), plain(prose)],
          ['x', 'y'],
        ];
        for (const layout of ['compact', 'aligned'] as const)
          expect((await cellsOf(markdownTable(rows, layout))).map((cells) => cells.map(folded))).toEqual([
            ['head', 'other'],
            [code, prose].map(folded),
            ['x', 'y'],
          ]);
      }),
      { numRuns: 300 },
    );
  });

  it('takes Markdown with pipes, escaped or not', async () => {
    const rows = [
      ['a', 'b'],
      ['one|two', String.raw`one\|two`],
      [String.raw`one\\|two`, '**one\ntwo**'],
    ];
    expect(await cellsOf(markdownTable(rows))).toEqual([
      ['a', 'b'],
      ['one|two', 'one|two'],
      [String.raw`one\|two`, 'one two'],
    ]);
  });

  it('is compact, or as prettier lays it out', async () => {
    const rows = [
      ['', 'name', 'n'],
      ['✔', inlineCode('redis-single'), '1'],
      ['', '–', '12,000'],
    ];
    expect(markdownTable(rows)).toEqual([
      '|  | name | n |',
      '| --- | --- | --- |',
      '| ✔ | `redis-single` | 1 |',
      '|  | – | 12,000 |',
    ]);
    const aligned = `${markdownTable(rows, 'aligned').join('\n')}\n`;
    expect(aligned).toContain('|     | –              | 12,000 |');
    expect(await format(aligned, { parser: 'markdown' })).toBe(aligned);
  });
});
