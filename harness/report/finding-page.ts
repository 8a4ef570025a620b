// One finding in full: its story, a picture, the operations, the numbers, what the servers printed meanwhile, and what one
// takes along. Pure.

import type { Finding } from '../../checkers/verdict.ts';
import { faultPhrase, list, seconds } from '../../checkers/wording.ts';
import type { Operation } from '../history/history.ts';
import { findingDiagram } from './diagram.ts';
import type { Json } from '../history/op.ts';
import { html, type Html } from './html.ts';
import { operationFacts } from './operation-facts.ts';
import { circumstances, headline, type RunView } from './run-view.ts';
import { logAround } from './server-log.ts';
import { issueText, sliceText } from './slice.ts';
import { tokenStaircase } from './staircase.ts';
import { clause, counted, duration, jsonText, name, spaced } from './words.ts';

/** The browser script turns it into "select on the timeline"; without script it leads to the timeline. */
export function showLink(view: RunView, anchor: string): Html {
  return html`<a href="#${view.anchor}-timeline" data-show="${anchor}">show on timeline</a>`;
}

/** Folded unless it is `open`; its anchor is that of the finding. */
export function findingPage(view: RunView, finding: Finding, { open }: { readonly open: boolean }): Html {
  const anchor = view.anchors.get(finding) ?? '';
  const operations = finding.ops.flatMap((id) => view.operations.get(id) ?? []);
  const faults = finding.faults.flatMap((id) => view.faults.get(id) ?? []);
  const facts: readonly (readonly [string, string])[] = [
    ['Complete at', seconds(finding.at)],
    ['Lock', finding.lock === undefined ? '' : name(finding.lock)],
    ['Store', finding.store === undefined ? '' : name(finding.store)],
    ['Processes', list(finding.processes.map((process) => name(process)))],
    ['Faults about that time', faults.map((fault) => clause(faultPhrase(fault))).join('; ') || 'none'],
    ...Object.entries(finding.evidence).map(
      ([key, value]) => [capital(evidenceName(key)), evidenceText(key, value)] as const,
    ),
  ];
  return html` <details class="finding" id="${anchor}" ${{ markup: open ? ' open' : '' }}>
    <summary>
      <span class="number">At ${seconds(finding.at)}</span> ${headline(view, finding)}<span class="soft"
        >${circumstances(view, finding)}</span
      >
    </summary>
    <p class="story">${finding.story}</p>
    ${findingDiagram(view, finding)} ${tokenStaircase(view, finding)}
    ${operations.length === 0 ? undefined : operationTable(operations)}
    <div class="command">
      <code id="${anchor}/command">${view.run.provenance.replayCommand}</code>
      <button type="button" data-copy="${anchor}/command" hidden>Copy</button>
    </div>
    <details class="more">
      <summary>The evidence in numbers</summary>
      <dl class="facts">
        ${facts
          .filter(([, value]) => value !== '')
          .map(
            ([key, value]) =>
              html`<div>
                <dt>${key}</dt>
                <dd>${value}</dd>
              </div>`,
          )}
      </dl>
    </details>
    ${logAround(view.logLines, finding.at)} ${takeAlong(view, finding, anchor)}
    <p class="links">
      ${showLink(view, anchor)} <a href="#${anchor}">link to this finding</a>
      <span class="soft">${counted(finding.ops.length, 'operation')} named</span>
    </p>
  </details>`;
}

/** Each text with a button that copies it. */
function takeAlong(view: RunView, finding: Finding, anchor: string): Html {
  const texts: readonly (readonly [string, string, string])[] = [
    ['issue', 'a text for an issue', issueText(view, finding)],
    ['slice', 'the history of what is named', sliceText(view, finding)],
  ];
  return html`<details class="more take">
    <summary>To take along: a text for an issue, and its part of the history</summary>
    ${texts.map(
      ([what, words, text]) =>
        html`<p>${words} <button type="button" data-copy="${anchor}/${what}" hidden>Copy</button></p>
          <pre id="${anchor}/${what}" tabindex="0">${text}</pre>`,
    )}
  </details>`;
}

function operationTable(operations: readonly Operation[]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Operations of this finding">
    <table>
      <thead>
        <tr>
          <th scope="col">Operation</th>
          <th scope="col">Process</th>
          <th scope="col">On</th>
          <th scope="col">Invoked</th>
          <th scope="col">Completed</th>
          <th scope="col">Outcome</th>
        </tr>
      </thead>
      <tbody>
        ${operations.map(
          (operation) =>
            html`<tr>
              <td>#${operation.id} ${operation.op}</td>
              <td>${name(operation.process)}</td>
              <td>
                ${'store' in operation ? `${name(operation.store)}/${name(operation.key)}` : name(operation.lock)}
              </td>
              <td class="number">${seconds(operation.invoked)}</td>
              <td class="number">
                ${operation.completed === undefined ? 'never' : seconds(operation.completed)}
              </td>
              <td>
                ${[operation.outcome, name(operation.error ?? ''), operationFacts(operation)].filter(Boolean).join(', ')}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** `overlapNanos` → `overlap`, `blockedByOp` → `blocked by op`. */
function evidenceName(key: string): string {
  return name(spaced(key.replace(/Nanos$/, '')));
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Shorter ones would be 0.00 s as a moment. */
const SHORT_NANOS = 10e6;

/** As people would write it; the numbers as they are stand in verdict.json. */
function evidenceText(key: string, value: Json | undefined): string {
  if (typeof value === 'number' && /Nanos$|^(start|end|at)$/.test(key))
    return value >= SHORT_NANOS ? seconds(value) : duration(value);
  if (/By$|Op$/.test(key) && typeof value === 'number') return `#${value}`;
  if (typeof value !== 'object' || value === null) return jsonText(value);
  if (isList(value)) return value.map((item) => evidenceText(key, item)).join('; ');
  const { process, start, end, ...rest } = value;
  if (typeof process === 'string' && typeof start === 'number' && typeof end === 'number')
    return [`${name(process)} ${seconds(start)} – ${seconds(end)}`, evidenceText(key, rest)]
      .filter(Boolean)
      .join(', ');
  return Object.entries(value)
    .map(([inner, item]) => `${evidenceName(inner)} ${evidenceText(inner, item)}`)
    .join(', ');
}

/** `Array.isArray` does not narrow readonly arrays. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
