// Before the matrix: how often each lock was lost to what was done to it, over all cells and seeds of the page. Pure.

import { breakingFaults } from '../comparison/breaking-faults.ts';
import { answerText, QUESTIONS, ratesOf } from '../comparison/rates.ts';
import { html, type Html } from './html.ts';
import type { ComparedRun } from './judged-run.ts';
import { cellOf } from './run-view.ts';
import { byName } from './words.ts';

/** undefined: fewer than two locks had anything done to them that it asks about. */
export function ratesSection(runs: readonly ComparedRun[]): Html | undefined {
  const rates = ratesOf(
    runs.map(({ plan, verdict }) => ({
      lock: cellOf(plan),
      fault: plan.fault,
      faults: (code) => breakingFaults([verdict], code),
      runs: (code) => ({
        hits: verdict.findings.some((finding) => finding.code === code) ? 1 : 0,
        trials: 1,
      }),
    })),
  ).toSorted((a, b) => byName(a.lock, b.lock));
  if (rates.length < 2) return undefined;
  const asked = QUESTIONS.map(({ asked: words }, column) => ({ words, column })).filter(({ column }) =>
    rates.some(({ answers }) => answers[column] !== undefined),
  );
  return html`<p class="soft">
      How often each lock was lost: of the runs, or of the faults that were proved to act, those in which it
      happened, with the exact 95 % interval.
    </p>
    <div class="scroll" tabindex="0" role="group" aria-label="How often each lock was lost">
      <table class="rates">
        <thead>
          <tr>
            <th scope="col">Lock</th>
            ${asked.map(({ words }) => html`<th scope="col">${words}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rates.map(
            ({ lock, answers }) =>
              html`<tr>
                <th scope="row">${lock}</th>
                ${asked.map(({ column }) => {
                  const answer = answers[column];
                  const lost = answer !== undefined && answer.hits > 0;
                  return html`<td class="number">
                    ${lost ? html`<strong>${answerText(answer)}</strong>` : answerText(answer)}
                  </td>`;
                })}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}
