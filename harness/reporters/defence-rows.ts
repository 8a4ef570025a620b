// What kept the data right, as a table in Markdown: the cells in which a store was harmed, against the defences. Cells in
// which every store held have nothing to compare. Pure.

import { defenceWords } from '../comparison/defences.ts';
import type { CellSummary } from '../comparison/summary.ts';
import { inlineCode, markdownTable } from './markdown-table.ts';

/** Nothing, if no store was harmed in any of the cells. */
export function defenceRows(cells: readonly Pick<CellSummary, 'cell' | 'defences'>[]): readonly string[] {
  const telling = cells.filter(({ defences }) => defences.some(({ harmed }) => harmed > 0));
  if (telling.length === 0) return [];
  const names = [...new Set(telling.flatMap(({ defences }) => defences.map(({ name }) => name)))];
  return [
    '',
    '## What kept the data right',
    '',
    'The same critical sections against each defence of the store, in the cells in which one of them was harmed.',
    '',
    ...markdownTable([
      ['cell', ...names],
      ...telling.map(({ cell, defences }) => [
        inlineCode(cell),
        ...names.map((name) => {
          const defence = defences.find((one) => one.name === name);
          return defence === undefined ? '–' : defenceWords(defence);
        }),
      ]),
    ]),
  ];
}
