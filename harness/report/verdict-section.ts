// The top of a run: what is the verdict, was it expected, how hard was it tried, what was not tested, and the command
// that makes the run again. Pure.

import type { Grade } from '../../checkers/verdict.ts';
import { list } from '../../checkers/wording.ts';
import { html, trusted, type Html } from './html.ts';
import { FAULT_KINDS, GRADE_MEANING } from './meaning.ts';
import type { RunView } from './run-view.ts';
import { verdictSentence } from './sentence.ts';
import { count, name } from './words.ts';

/** A shape per grade, so that none is told by colour alone. */
const GRADE_SHAPES: Readonly<Record<Grade, string>> = {
  safe: '<circle cx="12" cy="12" r="10"/><path class="g-mark" d="m7 12.5 3.5 3.5L17 8.5"/>',
  'safe-with-fencing':
    '<path d="M12 1.5 21 5v7c0 5.2-3.8 8.9-9 10.5C6.800 20.900 3 17.200 3 12V5z"/><path class="g-mark" d="M8 9v7m4-7v7m4-7v7M6.500 12.500h11"/>',
  unsafe: '<path d="M7.500 1.500h9l6 6v9l-6 6h-9l-6-6v-9z"/><path class="g-mark" d="m8 8 8 8m0-8-8 8"/>',
  inconclusive:
    '<g fill="none" stroke="currentColor"><circle cx="12" cy="12" r="9.500" stroke-width="2.500" stroke-dasharray="4 3"/><path stroke-width="2.800" d="M8 12h8"/></g>',
};

/** The grade as shape and word. */
export function gradeBadge(grade: Grade): Html {
  return html`<span class="grade ${grade}"
    ><svg viewBox="0 0 24 24" aria-hidden="true">${trusted(GRADE_SHAPES[grade])}</svg
    >${GRADE_MEANING[grade].word}</span
  >`;
}

/** Everything up to the timeline. */
export function verdictSection(view: RunView): Html {
  const { verdict, provenance, plan } = view.run;
  const simulated = plan.on === 'simulation' ? html`<span class="soft">simulated</span> ` : '';
  return html` <p class="sentence ${verdict.grade}">
      ${gradeBadge(verdict.grade)} ${simulated}${verdictSentence(view)}
    </p>
    <p class="expectation">${expectation(view)}</p>
    ${
      verdict.surprises.length === 0
        ? undefined
        : html`<ul class="warnings">
            ${verdict.surprises.map((surprise) => html`<li>${surprise}</li>`)}
          </ul>`
    }
    <div class="command">
      <code id="${view.anchor}-replay">${provenance.replayCommand}</code>
      <button type="button" data-copy="${view.anchor}-replay" hidden>Copy</button>
    </div>
    ${powerTiles(view)}
    <div class="columns">
      <div>
        <h3>How far to trust it</h3>
        <ul>
          ${trustLines(view).map((line) => html`<li>${line}</li>`)}
        </ul>
      </div>
      <div>
        <h3>Not tested here</h3>
        <ul>
          ${untested(view).map((line) => html`<li>${line}</li>`)}
        </ul>
      </div>
    </div>`;
}

function expectation(view: RunView): Html {
  const { verdict, provenance } = view.run;
  if (verdict.expected === null)
    return html`Seen: <strong>${GRADE_MEANING[verdict.grade].word}</strong>. No expectation is catalogued for
      this cell.`;
  return html`Expected: <strong>${GRADE_MEANING[verdict.expected].word}</strong>${
      provenance.expectedBecause === undefined ? '' : ` (${provenance.expectedBecause.replace(/\.$/, '')})`
    }.
    Seen: <strong>${GRADE_MEANING[verdict.grade].word}</strong>.
    ${
      verdict.asExpected
        ? html`<span class="as-expected">✓ as expected</span>`
        : html`<span class="not-expected">✗ not as expected</span>`
    }`;
}

function powerTiles(view: RunView): Html {
  const { grants, contendedHandoffs, expiries, faults } = view.run.verdict.power;
  const tiles: readonly (readonly [string, string])[] = [
    [count(view.run.history.operations.length), 'operations'],
    [count(grants), 'grants'],
    [count(contendedHandoffs), 'contended hand-offs'],
    [count(expiries), 'leases that ran out'],
    [`${count(faults.acted)} of ${count(faults.planned)}`, 'faults proved to act'],
    [count(faults.hitHold), 'faults that hit a holder'],
  ];
  return html`<dl class="power">
    ${tiles.map(
      ([figure, label]) =>
        html`<div>
          <dt>${label}</dt>
          <dd>${figure}</dd>
        </div>`,
    )}
  </dl>`;
}

function trustLines(view: RunView): string[] {
  const { verdict, history } = view.run;
  const { rateBound } = verdict.power;
  const unknown = verdict.checkers.filter((checker) => checker.verdict === 'unknown');
  const decided = verdict.checkers.filter((checker) => checker.verdict !== 'unknown');
  return [
    ...verdict.power.warnings.map(({ code, message }) => `${code}: ${message}`),
    ...unknown.map((checker) => `${checker.name} could not decide: ${checker.reason ?? 'no reason given'}`),
    ...(decided.length === 0
      ? []
      : [`Rules that reached an answer: ${list(decided.map((checker) => name(checker.name)))}.`]),
    ...(rateBound === null || rateBound === undefined
      ? []
      : [
          `No double grant was seen; at 95\u00a0% confidence fewer than ${(rateBound * 100).toFixed(2)}\u00a0% of contended hand-offs end in one.`,
        ]),
    history.header.clock === 'shared'
      ? 'All times were read from one clock.'
      : `The clocks were compared to within ${history.header.clockErrorNanos / 1e6} ms.`,
  ];
}

function untested(view: RunView): string[] {
  const { history, plan } = view.run;
  const acted = new Set(
    history.faults.filter((fault) => fault.acted !== undefined).map(({ fault }) => fault),
  );
  const kinds = Object.entries(FAULT_KINDS).flatMap(([kind, words]) => (acted.has(kind) ? [] : words));
  const hasTokens =
    history.header.meta.tokens ?? view.grants.some(({ acquire }) => acquire.token !== undefined);
  return [
    ...(kinds.length === 0 ? [] : [`Faults of other kinds: ${list(kinds)}.`]),
    ...(hasTokens
      ? []
      : ['Fencing: this recipe hands out no tokens, so there was no store that could refuse a stale write.']),
    plan.on === 'simulation'
      ? 'Real servers: these were simulated, with what locks depend on and nothing else.'
      : `Other orders of events: this is one run of seed ${name(plan.seed)}, and real machines do not repeat themselves.`,
  ];
}
