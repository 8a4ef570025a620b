// Below the matrix: which defences of the store kept the data right, in the fields where one of them was harmed. Where all
// held there is nothing to compare. Pure.

import { defencesOf, defenceWords } from '../comparison/defences.ts';
import { html, type Html } from './html.ts';
import type { Matrix } from './matrix.ts';

export function matrixDefences({ rows, columns, entries }: Matrix): Html {
  const fields = rows.flatMap((lock, row) =>
    columns.map((fault, column) => {
      const here = entries.filter((entry) => entry.row === row && entry.column === column);
      return { lock, fault, defences: defencesOf(here.map(({ run }) => run.verdict)) };
    }),
  );
  const telling = fields.filter(({ defences }) => defences.some(({ harmed }) => harmed > 0));
  if (telling.length === 0) return html``;
  const names = [...new Set(telling.flatMap(({ defences }) => defences.map(({ name }) => name)))];
  return html`<details class="more">
    <summary>What kept the data right: each defence of the store by itself</summary>
    <div class="scroll" tabindex="0" role="group" aria-label="Locks and faults against defences of the store">
      <table class="runs">
        <thead>
          <tr>
            <th scope="col">Lock</th>
            <th scope="col">Fault</th>
            ${names.map((name) => html`<th scope="col">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${telling.map(
            ({ lock, fault, defences }) =>
              html`<tr>
                <td>${lock}</td>
                <td>${fault}</td>
                ${names.map((name) => {
                  const defence = defences.find((one) => one.name === name);
                  return html`<td>${defence === undefined ? '–' : defenceWords(defence)}</td>`;
                })}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </details>`;
}
