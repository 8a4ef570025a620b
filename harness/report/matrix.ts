// The top of a page of several runs: backend and recipe against fault, each field with what was seen over its seeds, the
// rate of faults that broke a rule, and what was expected; below it a line for each run. Pure.

import { breakingFaults } from '../comparison/breaking-faults.ts';
import { perThousandText } from '../comparison/interval.ts';
import type { Grade } from '../../checkers/verdict.ts';
import { html, type Html } from './html.ts';
import type { ComparedRun } from './judged-run.ts';
import { matrixDefences } from './matrix-defences.ts';
import { GRADE_MEANING } from './meaning.ts';
import { cellOf, type RunView } from './run-view.ts';
import { countsByCode } from './sentence.ts';
import { gradeBadge } from './verdict-section.ts';
import { byName, count, counted, name } from './words.ts';

/** Where each run stands in the matrix. */
export interface Matrix {
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  readonly entries: readonly MatrixEntry[];
}

export interface MatrixEntry {
  readonly run: ComparedRun;
  readonly row: number;
  readonly column: number;
  /** undefined: the page does not show it. */
  readonly view: RunView | undefined;
}

/** Rows in the order of people; columns likewise, with the workload where it is not that of most runs. */
export function matrixOf(views: readonly RunView[], others: readonly ComparedRun[]): Matrix {
  const runs = [
    ...views.map((view) => ({ run: view.run as ComparedRun, view })),
    ...others.map((run) => ({ run, view: undefined })),
  ];
  const workloads = Map.groupBy(runs, ({ run }) => run.plan.workload);
  const [usual] = [...workloads].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? [];
  const columnOf = ({ plan }: ComparedRun): string =>
    plan.workload === usual ? name(plan.fault) : `${name(plan.fault)}, ${name(plan.workload)}`;
  const rows = [...new Set(runs.map(({ run }) => cellOf(run.plan)))].sort(byName);
  const columns = [...new Set(runs.map(({ run }) => columnOf(run)))].sort(byName);
  return {
    rows,
    columns,
    entries: runs.map(({ run, view }) => ({
      run,
      view,
      row: rows.indexOf(cellOf(run.plan)),
      column: columns.indexOf(columnOf(run)),
    })),
  };
}

/** `7 runs: all as expected`, or `7 runs: 5 as expected, 1 not, 1 without an expectation`. */
export function summarySentence({ entries }: Matrix): string {
  const catalogued = entries.filter(({ run }) => run.verdict.expected !== null);
  const expected = catalogued.filter(({ run }) => run.verdict.asExpected).length;
  const surprising = catalogued.length - expected;
  const others = entries.length - catalogued.length;
  const parts = [
    `${count(expected)} as expected`,
    ...(surprising > 0 ? [`${count(surprising)} not`] : []),
    ...(others > 0 ? [`${count(others)} without an expectation`] : []),
  ];
  const all = entries.length > 0 && expected === entries.length;
  return `${counted(entries.length, 'run')}: ${all ? 'all as expected' : parts.join(', ')}`;
}

/** With more faults than these most fields would be empty, and all of them far apart. */
const COLUMNS_MAX = 7;

/** The script makes its links filters; without it they lead to the first run that they are about. */
export function matrixSection(matrix: Matrix): Html {
  const { columns, entries } = matrix;
  const unseen = entries.filter(({ view }) => view === undefined).length;
  return html`<p class="soft">
      Each field: what was seen; of 1,000 faults that acted, how many broke a rule, with the exact 95 %
      interval; how many runs came out as expected. A field, a lock’s or a fault’s name shows only its
      runs.${unseen > 0 ? ` ${count(unseen)} of the runs are counted here and not shown.` : ''}
    </p>
    ${columns.length > COLUMNS_MAX ? fieldsByLock(matrix) : grid(matrix)} ${matrixDefences(matrix)}
    <p id="filtered" class="filtered" aria-live="polite" hidden></p>
    <details class="more">
      <summary>The same as a list: ${counted(entries.length, 'run')}</summary>
      ${runList(matrix)}
    </details>`;
}

function grid({ rows, columns, entries }: Matrix): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Locks against faults">
    <table class="matrix">
      <thead>
        <tr>
          <th scope="col">Lock</th>
          ${columns.map((column, index) => html`<th scope="col">${filterLink(entries, { column: index }, column)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cell, row) =>
            html`<tr>
              <th scope="row">${filterLink(entries, { row }, cell)}</th>
              ${columns.map((_, column) => html`<td>${field(entries, { row, column })}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Each lock with the fields that it has, side by side. */
function fieldsByLock({ rows, columns, entries }: Matrix): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Locks against faults">
    <table class="matrix">
      <thead>
        <tr>
          <th scope="col">Lock</th>
          <th scope="col">Under each fault</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cell, row) =>
            html`<tr>
              <th scope="row">${filterLink(entries, { row }, cell)}</th>
              <td>
                <ul class="fields">
                  ${columns.map((fault, column) =>
                    at(entries, { row, column }).length === 0
                      ? html``
                      : html`<li>
                          <span class="fault">${filterLink(entries, { column }, fault)}</span>
                          ${field(entries, { row, column })}
                        </li>`,
                  )}
                </ul>
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Absent: any. */
interface Place {
  readonly row?: number;
  readonly column?: number;
}

function at(entries: readonly MatrixEntry[], { row, column }: Place): readonly MatrixEntry[] {
  return entries.filter(
    (entry) => (row === undefined || entry.row === row) && (column === undefined || entry.column === column),
  );
}

function filterLink(entries: readonly MatrixEntry[], place: Place, words: string | Html): Html {
  const first = at(entries, place).find(({ view }) => view !== undefined)?.view;
  if (first === undefined) return html`${words}`;
  return html`<a href="#${first.anchor}" data-filter="${place.row ?? ''}/${place.column ?? ''}">${words}</a>`;
}

const WORST_FIRST: readonly Grade[] = ['unsafe', 'safe-with-fencing', 'inconclusive', 'safe'];

function field(entries: readonly MatrixEntry[], place: Place): Html {
  const here = at(entries, place);
  if (here.length === 0) return html`<span class="soft" aria-label="not tried">–</span>`;
  const verdicts = here.map(({ run }) => run.verdict);
  const grades = WORST_FIRST.flatMap((grade) => {
    const seen = verdicts.filter((verdict) => verdict.grade === grade).length;
    if (seen === 0) return [];
    return html`<span class="seen"
      >${gradeBadge(grade)}${seen === here.length ? '' : ` × ${count(seen)}`}</span
    >`;
  });
  const breaking = breakingFaults(verdicts);
  const rate = breaking.trials === 0 ? 'no fault acted' : perThousandText(breaking);
  return html`${filterLink(entries, place, html`${grades}`)}<span class="rate">${rate}</span
    >${expectation(here)}`;
}

function expectation(here: readonly MatrixEntry[]): Html {
  const catalogued = here.filter(({ run }) => run.verdict.expected !== null);
  const [first] = catalogued;
  if (first === undefined) return html`<span class="rate">nothing expected</span>`;
  const met = catalogued.filter(({ run }) => run.verdict.asExpected).length;
  if (met === catalogued.length)
    return html`<span class="rate as-expected">✓ ${count(met)} of ${count(met)}</span>`;
  const { expected } = first.run.verdict;
  return html`<span class="rate not-expected"
    >✗ ${count(met)} of ${count(catalogued.length)}: ${expected === null ? '' : GRADE_MEANING[expected].word}
    expected</span
  >`;
}

function runList({ entries, columns }: Matrix): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="All runs">
    <table class="runs">
      <thead>
        <tr>
          <th scope="col">Lock</th>
          <th scope="col">Fault</th>
          <th scope="col">Seed</th>
          <th scope="col">Seen</th>
          <th scope="col">As expected</th>
          <th scope="col">Findings</th>
        </tr>
      </thead>
      <tbody>
        ${entries.map(({ run, view, row, column }) => {
          const { verdict, plan } = run;
          const cell = cellOf(plan);
          const page = view === undefined ? run.page : `#${view.anchor}`;
          const found = countsByCode([...verdict.findings, ...verdict.liveness]);
          return html`<tr data-row="${row}" data-column="${column}">
            <td>${page === undefined ? cell : html`<a href="${page}">${cell}</a>`}</td>
            <td>${columns[column]}</td>
            <td>${name(plan.seed)}${plan.on === 'simulation' ? ', simulated' : ''}</td>
            <td>${gradeBadge(verdict.grade)}</td>
            <td>
              ${verdict.expected === null ? '–' : verdict.asExpected ? '✓ yes' : html`<strong>✗ no</strong>`}
            </td>
            <td>${found.map(([code, total]) => `${code} × ${count(total)}`).join(', ') || 'none'}</td>
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}
