// What became of each store: every defence against the same critical sections, and what is measured beside the grade.
// Pure.

import type { Quantiles, StoreResult, Verdict } from '../../checkers/verdict.ts';
import { list } from '../../checkers/wording.ts';
import { html, type Html } from './html.ts';
import { CODE_MEANING } from './meaning.ts';
import type { RunView } from './run-view.ts';
import { count, counted, duration, name } from './words.ts';

/** A shape and a word each, so that none is told by colour alone. */
const RESULT: Readonly<Record<StoreResult['verdict'], string>> = {
  valid: '✓ held',
  invalid: '✗ harmed',
  unknown: '? unknown',
};

/** One row a store; nothing if the history has none. */
export function storesSection(view: RunView): Html {
  const { stores } = view.run.verdict;
  if (stores.length === 0) return html`<p>No store was written to.</p>`;
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Stores">
    <table>
      <thead>
        <tr>
          <th scope="col">Defence</th>
          <th scope="col">Result</th>
          <th scope="col">Accepted</th>
          <th scope="col">Refused</th>
          <th scope="col">Unanswered, as its record settles them</th>
        </tr>
      </thead>
      <tbody>
        ${stores.map(
          (store) =>
            html`<tr>
              <td><code>${name(store.name)}</code></td>
              <td>${resultOf(store)}</td>
              <td class="number">${count(store.writes.accepted)}</td>
              <td class="number">${count(store.writes.refused)}</td>
              <td>${settledText(store)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function resultOf({ verdict, findings, brokenPromises, reason }: StoreResult): Html {
  const harm = Object.entries(CODE_MEANING).flatMap(
    ([
      code,
      {
        counted: [one, many],
      },
    ]) => {
      const found = new Map(Object.entries(findings)).get(code);
      return found === undefined ? [] : [counted(found, one, many)];
    },
  );
  const promised = brokenPromises.length > 0 ? ': its defence should have prevented that' : '';
  const why = reason === undefined ? '' : ` (${reason})`;
  return html`<strong>${RESULT[verdict]}</strong>${harm.length === 0 ? why : ` by ${list(harm)}${promised}`}`;
}

function settledText({ writes, settled }: StoreResult): string {
  if (writes.unanswered === 0) return '0';
  const { landed = 0, refused = 0, never = 0, open = 0 } = settled;
  const parts = [
    landed > 0 ? `${count(landed)} landed` : '',
    refused > 0 ? `${count(refused)} refused` : '',
    never > 0 ? `${count(never)} never took effect` : '',
    open > 0 ? `${count(open)} nobody can tell` : '',
  ].filter((part) => part !== '');
  return `${count(writes.unanswered)}: ${list(parts)}`;
}

/** What is counted and not judged, in sentences; empty for most workloads. */
export function measureSentences({ waste, handover }: Verdict['measures']): readonly string[] {
  const sentences: string[] = [];
  if (waste !== undefined)
    sentences.push(
      `Waste, not corruption: of ${counted(waste.ticks, 'tick')} ${count(waste.double)} ran more than once ` +
        `(${percent(waste.doubleRate)}) and ${count(waste.missed)} never (${percent(waste.missedRate)}).`,
    );
  if (handover === undefined) return sentences;
  const { latencyMillis, waitMillis, grantsPerClient, triesPerGrant, queueJumps } = handover;
  sentences.push(
    `From a release to the next grant ${quantiles(latencyMillis)}; from the first try to the grant ${quantiles(waitMillis)}.`,
    `Each client was granted the lock ${count(grantsPerClient.least)} to ${count(grantsPerClient.most)} times` +
      (triesPerGrant === null ? '.' : `, with ${triesPerGrant.toFixed(1)} tries for each grant.`),
  );
  if (queueJumps !== null) sentences.push(`The queue was jumped ${counted(queueJumps.count, 'time')}.`);
  return sentences;
}

function quantiles({ p50, p99, max }: Quantiles): string {
  const [middle, high, most] = [p50, p99, max].map((millis) =>
    millis === null ? '–' : duration(millis * 1e6),
  );
  return `${middle} (99 %: ${high}, longest ${most})`;
}

function percent(rate: number): string {
  return `${(rate * 100).toPrecision(2)} %`;
}
