// The place of the timeline in the page: the frame that page/timeline.js fills, its legend, its data, and a table that
// says the same to those who do not see it. Pure.

import { list, seconds } from '../../checkers/wording.ts';
import { packedColumns } from './column-forms.ts';
import { html, trusted, type Html } from './html.ts';
import { holdEnding, lengthOf, LOCK_LANES_MAX, type RunView } from './run-view.ts';
import { CLIENT_LANES_MAX, timelineColumns } from './timeline-columns.ts';
import { count, duration, name } from './words.ts';

const TABLE_ROWS_MAX = 200;

export function timelineSection(view: RunView): Html {
  const columns = timelineColumns(view);
  return html` <noscript
      ><p>The timeline is drawn by a script inside this file; the table below says the same.</p></noscript
    >
    <div class="timeline" id="${view.anchor}-timeline" data-run="${view.anchor}"></div>
    <script type="application/octet-stream" id="${view.anchor}-columns">
      ${trusted(packedColumns(columns))}
    </script>
    ${legend()} ${cut(view)}
    <details class="more">
      <summary>The timeline as a table: the holds that findings name</summary>
      ${holdTable(view)}
    </details>`;
}

/** An item of the legend. */
function entry(shape: string, words: string): Html {
  return html`<li><svg viewBox="0 0 26 14" aria-hidden="true">${trusted(shape)}</svg> ${words}</li>`;
}

function legend(): Html {
  const items: readonly (readonly [string, string])[] = [
    [
      '<rect class="d-hold d-lock-1" x="1" y="1" width="24" height="12"/>',
      'hold: what a client believes (one colour and pattern a lock; grey: several locks in one pixel)',
    ],
    ['<rect class="d-tenure" x="1" y="5" width="24" height="4"/>', 'tenure: what the lock service promised'],
    [
      '<rect class="d-lead-role" x="1" y="2" width="24" height="10"/>',
      'server that leads, as it said itself',
    ],
    ['<rect class="d-overlap" x="1" y="1" width="24" height="12"/>', 'believed by two at once'],
    ['<rect class="d-fault" x="1" y="0" width="24" height="14"/>', 'process under a fault'],
    ['<path class="d-mark" d="M13 1 20 13H6z"/>', 'finding: exclusion'],
    ['<path class="d-mark" d="m13 0 7 7-7 7-7-7z"/>', 'finding: the store'],
    ['<rect class="d-mark" x="7" y="1" width="12" height="12"/>', 'finding: liveness'],
    ['<path class="d-unknown" d="M2 7h22"/>', 'operation with unknown outcome, or refused'],
  ];
  return html`<ul class="legend">
    ${items.map(([shape, words]) => entry(shape, words))}
  </ul>`;
}

/** What is not drawn is said. */
function cut(view: RunView): Html | undefined {
  const missing = [
    ...(view.clients.length > CLIENT_LANES_MAX
      ? [`${count(view.clients.length - CLIENT_LANES_MAX)} clients`]
      : []),
    ...(view.locks.length > LOCK_LANES_MAX
      ? [`lanes of ${count(view.locks.length - LOCK_LANES_MAX)} locks`]
      : []),
  ];
  return missing.length === 0
    ? undefined
    : html`<p class="soft">Not drawn: ${list(missing)}. Those with findings come first.</p>`;
}

function holdTable(view: RunView): Html {
  const named = new Set(view.findings.flatMap(({ ops }) => ops));
  const grants = view.grants.filter(({ acquire }) => named.has(acquire.id));
  if (grants.length === 0)
    return html`<p>No finding names a hold. Faults have a table of their own below.</p>`;
  return html` <div class="scroll" tabindex="0" role="group" aria-label="Holds that findings name">
      <table>
        <thead>
          <tr>
            <th scope="col">Lock</th>
            <th scope="col">Process</th>
            <th scope="col">Acquire</th>
            <th scope="col">Token</th>
            <th scope="col">Believed from</th>
            <th scope="col">Until</th>
            <th scope="col">Ended by</th>
            <th scope="col">Tenure until</th>
          </tr>
        </thead>
        <tbody>
          ${grants.slice(0, TABLE_ROWS_MAX).map(
            (grant) =>
              html`<tr>
                <td>${name(grant.lock)}</td>
                <td>${name(grant.process)}</td>
                <td>#${grant.acquire.id}</td>
                <td>${grant.token === undefined ? 'none' : String(grant.token)}</td>
                <td class="number">${seconds(grant.hold.start)}</td>
                <td class="number">${seconds(grant.hold.end)} (${duration(lengthOf(grant.hold))})</td>
                <td>${holdEnding(grant)}</td>
                <td class="number">${seconds(grant.tenure.end)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p class="soft">
      ${
        grants.length > TABLE_ROWS_MAX
          ? `The first ${count(TABLE_ROWS_MAX)} of ${count(grants.length)} such holds. `
          : ''
      }All
      ${count(view.grants.length)} grants are in history.jsonl.
    </p>`;
}
