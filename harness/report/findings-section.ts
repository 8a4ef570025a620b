// The findings of a run, grouped by code. The first of a code stand there in full (`finding-page.ts`), the rest as lines
// of a table, each with its page packed, which the script opens when it is asked for. How many were left out is always
// said. Pure.

import { deflateRawSync } from 'node:zlib';
import type { Finding, FindingCode } from '../../checkers/verdict.ts';
import { list, seconds } from '../../checkers/wording.ts';
import { findingPage, showLink } from './finding-page.ts';
import { html, trusted, type Html } from './html.ts';
import { CODE_MEANING } from './meaning.ts';
import { circumstances, headline, type RunView } from './run-view.ts';
import { countsByCode } from './sentence.ts';
import { count } from './words.ts';

const FULL_PER_CODE_MAX = 25;
const LINES_PER_CODE_MAX = 500;

/** All groups; says so if there are none. */
export function findingsSection(view: RunView): Html {
  if (view.findings.length === 0)
    return html`<p>None: no rule was broken. How much that means is said under “How far to trust it”.</p>`;
  return html`${countsByCode(view.findings).map(([code]) => group(view, code))}`;
}

function group(view: RunView, code: FindingCode): Html {
  const findings = view.findings.filter((finding) => finding.code === code);
  const { proves, blame } = CODE_MEANING[code];
  const lines = findings.slice(FULL_PER_CODE_MAX, FULL_PER_CODE_MAX + LINES_PER_CODE_MAX);
  const left = findings.length - FULL_PER_CODE_MAX - lines.length;
  return html` <section class="code">
    <h4><code>${code}</code> <span class="count">× ${count(findings.length)}</span></h4>
    <p>${proves} <span class="soft">${blame}</span></p>
    ${findings.slice(0, FULL_PER_CODE_MAX).map((finding, index) => findingPage(view, finding, { open: index === 0 }))}
    ${
      lines.length === 0
        ? undefined
        : html`<details class="more">
            <summary>
              ${count(lines.length)} more of this
              code${left > 0 ? `; ${count(left)} further ones are only in verdict.json` : ''}
            </summary>
            <div class="scroll" tabindex="0" role="group" aria-label="More findings of ${code}">
              <table>
                <thead>
                  <tr>
                    <th scope="col">At</th>
                    <th scope="col">What</th>
                    <th scope="col">Operations</th>
                  </tr>
                </thead>
                <tbody>
                  ${lines.map((finding) => line(view, finding))}
                </tbody>
              </table>
            </div>
            <script type="application/octet-stream" class="pages">
              ${packedPages(view, lines)}
            </script>
          </details>`
    }
  </section>`;
}

function line(view: RunView, finding: Finding): Html {
  const anchor = view.anchors.get(finding) ?? '';
  return html`<tr id="${anchor}">
    <td class="number">${seconds(finding.at)}</td>
    <td>
      <a href="#${anchor}">${headline(view, finding)}</a>${circumstances(view, finding)}
      ${showLink(view, anchor)}
    </td>
    <td>${list(finding.ops.map((id) => `#${id}`))}</td>
  </tr>`;
}

/** Anchor → the whole page of the finding, deflated and in base64: thousands of them fit into the file. */
function packedPages(view: RunView, findings: readonly Finding[]): Html {
  const pages = findings.map((finding) => [
    view.anchors.get(finding) ?? '',
    findingPage(view, finding, { open: true }).markup,
  ]);
  return trusted(deflateRawSync(JSON.stringify(Object.fromEntries(pages))).toString('base64'));
}
