// A comparison as Markdown, worst first, within the 1 MiB that GitHub takes for a job summary. Pure.

import { perThousandText, type Interval } from '../comparison/interval.ts';
import {
  WORST_FIRST,
  type CellSummary,
  type Rate,
  type Summary,
  type UnitOutcome,
} from '../comparison/summary.ts';
import { defenceRows } from './defence-rows.ts';
import { inlineCode, markdownTable, plain } from './markdown-table.ts';

export const MARKDOWN_BYTES_MAX = 900_000;

/** No status by colour alone: each has its word and its shape. */
const OUTCOME: Readonly<Record<UnitOutcome, string>> = {
  violation: '✖ not as expected',
  missing: '∅ missing',
  threshold: '◷ not alive',
  inconclusive: '? inconclusive',
  ok: '✔ as expected',
};

const UNITS_SHOWN = 5;

/** summary.md. `links`: the runs are beside it, so their reports can be linked. */
export function summaryMarkdown(
  summary: Summary,
  { links }: { readonly links: 'relative' | 'none' },
): string {
  const cells = summary.cells.toSorted(
    (a, b) => WORST_FIRST.indexOf(a.outcome) - WORST_FIRST.indexOf(b.outcome),
  );
  const wrong = cells.filter(({ outcome }) => outcome !== 'ok');
  return within(MARKDOWN_BYTES_MAX, [
    `# lockpick: ${headline(summary)}`,
    '',
    `${summary.profile === null ? 'First' : `Profile ${summary.profile}, first`} seed ${inlineCode(summary.seed)}, ${summary.cells.length} cells. Intervals are exact, at 95 % (Clopper and Pearson).`,
    '',
    ...wrong.flatMap((cell) => details(cell, links)),
    ...(wrong.length === 0 ? [] : ['## All cells', '']),
    ...cellRows(cells),
    ...defenceRows(cells),
  ]);
}

type CellRow = Omit<CellSummary, 'because' | 'contendedHandoffs' | 'defences' | 'units'>;

/** A table of them, a row a cell. */
export function cellRows(cells: readonly CellRow[]): readonly string[] {
  return markdownTable([
    ['', 'cell', 'theory', 'seen', 'as expected', 'faults that broke a rule, per 1,000', 'found'],
    ...cells.map(row),
  ]);
}

/** `of 60 runs 2 not as expected, 1 missing` */
export function headline({ totals, cells }: Summary): string {
  const simulated = cells.filter((cell) => cell.simulated).length;
  const where = simulated === 0 ? '' : simulated === cells.length ? ', simulated' : ', some simulated';
  return `${outcomesText(totals)}${where}`;
}

function outcomesText(totals: Summary['totals']): string {
  const runs = Object.values(totals).reduce((sum, count) => sum + count, 0);
  if (totals.ok === runs) return runs === 1 ? 'one run, as expected' : `all ${runs} runs as expected`;
  const parts = WORST_FIRST.filter((outcome) => outcome !== 'ok' && totals[outcome] > 0).map(
    (outcome) => `${totals[outcome]} ${OUTCOME[outcome].replace(/^\S+ /, '')}`,
  );
  return `of ${runs} runs ${parts.join(', ')}`;
}

function details(summary: CellSummary, links: 'relative' | 'none'): string[] {
  const { cell, because, expected, units } = summary;
  const wrong = units.filter((unit) => unit.outcome !== 'ok');
  const more = wrong.length > UNITS_SHOWN ? [`- and ${wrong.length - UNITS_SHOWN} more seeds`] : [];
  return [
    `## ${outcomeOf(summary)}: ${inlineCode(cell)}`,
    '',
    ...(expected === null ? [] : [`Theory says ${expected}, because ${plain(because ?? '')}.`, '']),
    ...wrong
      .slice(0, UNITS_SHOWN)
      .flatMap((unit) => [
        `- seed ${inlineCode(unit.seed)}: ${plain(unit.surprises.join('; ') || 'there is no run of it that is done')}` +
          (unit.run === null || links === 'none' ? '' : ` ([report](${encodeURI(unit.run)}/report.html))`),
        '',
        `      ${unit.replay}`,
        '',
      ]),
    ...more,
    '',
  ];
}

/** Of a cell that theory says nothing of, only what was found can be told. */
function outcomeOf({ outcome, expected }: CellRow): string {
  if (expected !== null) return OUTCOME[outcome];
  return { ...OUTCOME, violation: '✖ rule broken', ok: '✔ nothing found' }[outcome];
}

function row(summary: CellRow): string[] {
  const { cell, simulated, expected, grades, asExpected, breakingFaults, findings } = summary;
  const seen = Object.entries(grades).map(([grade, count]) => `${count} × ${grade}`);
  const found = Object.entries(findings).map(([name, count]) => `${count} × ${name}`);
  return [
    outcomeOf(summary),
    `${inlineCode(cell)}${simulated ? ', simulated' : ''}`,
    expected ?? '–',
    seen.join(', ') || '–',
    `${asExpected.hits} of ${asExpected.trials} ${bounds(asExpected)}`,
    breakingFaults === null ? '–' : `${perThousandText(breakingFaults)} of ${breakingFaults.trials}`,
    found.join(', ') || '–',
  ];
}

function bounds({ low, high }: Rate & Interval): string {
  return `[${low.toFixed(2)}, ${high.toFixed(2)}]`;
}

/** The lines that fit, and how many do not. */
function within(bytesMax: number, lines: readonly string[]): string {
  const reserved = 100;
  let bytes = 0;
  const fitting = lines.findIndex((line) => {
    bytes += Buffer.byteLength(line) + 1;
    return bytes > bytesMax - reserved;
  });
  if (fitting === -1) return `${lines.join('\n')}\n`;
  return `${lines.slice(0, fitting).join('\n')}\n\n${lines.length - fitting} more lines are left out; summary.json has everything.\n`;
}
