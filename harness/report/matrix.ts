// The summary of a page of several runs: one row a run, expected against seen. Pure.

import { html, type Html } from './html.ts';
import type { RunView } from './run-view.ts';
import { countsByCode, tried } from './sentence.ts';
import { gradeBadge } from './verdict-section.ts';
import { count, counted, name } from './words.ts';

/** `7 runs: all as expected`, or `7 runs: 5 as expected, 1 not, 1 without an expectation`. */
export function summarySentence(views: readonly RunView[]): string {
  const catalogued = views.filter(({ run }) => run.verdict.expected !== null);
  const expected = catalogued.filter(({ run }) => run.verdict.asExpected).length;
  const surprising = catalogued.length - expected;
  const others = views.length - catalogued.length;
  const parts = [
    `${count(expected)} as expected`,
    ...(surprising > 0 ? [`${count(surprising)} not`] : []),
    ...(others > 0 ? [`${count(others)} without an expectation`] : []),
  ];
  const all = views.length > 0 && expected === views.length;
  return `${counted(views.length, 'run')}: ${all ? 'all as expected' : parts.join(', ')}`;
}

export function matrix(views: readonly RunView[]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="All runs">
    <table class="matrix">
      <thead>
        <tr>
          <th scope="col">Run</th>
          <th scope="col">Expected</th>
          <th scope="col">Seen</th>
          <th scope="col">As expected</th>
          <th scope="col">Findings</th>
          <th scope="col">Tried</th>
        </tr>
      </thead>
      <tbody>
        ${views.map(row)}
      </tbody>
    </table>
  </div>`;
}

function row(view: RunView): Html {
  const { verdict, plan } = view.run;
  const counts = countsByCode(view.findings);
  return html`<tr>
    <th scope="row">
      <a href="#${view.anchor}">${view.cell}</a><br /><span class="soft"
        >${name(plan.fault)}, ${name(plan.workload)}</span
      >
    </th>
    <td>${verdict.expected === null ? 'not catalogued' : gradeBadge(verdict.expected)}</td>
    <td>${gradeBadge(verdict.grade)}</td>
    <td>${verdict.expected === null ? '–' : verdict.asExpected ? '✓ yes' : html`<strong>✗ no</strong>`}</td>
    <td>
      ${counts.length === 0 ? 'none' : counts.map(([code, total]) => html`<span class="chip">${code} × ${count(total)}</span> `)}
    </td>
    <td>${tried(verdict)}</td>
  </tr>`;
}
