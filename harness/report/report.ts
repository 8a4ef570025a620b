// From judged runs to one HTML file that needs nothing but itself: opened from disk it asks nobody for anything, and
// its content security policy forbids it to. Each section has a file of its own; this one puts them in order. Pure.

import { createHash } from 'node:crypto';
import type { Trend } from '../comparison/trends.ts';
import { chartsSection } from './charts-section.ts';
import { faultsSection, provenanceSection } from './facts-section.ts';
import { findingsSection } from './findings-section.ts';
import { hatchings } from './hatchings.ts';
import { html, trusted, type Html } from './html.ts';
import type { ComparedRun, JudgedRun } from './judged-run.ts';
import { matrixOf, matrixSection, summarySentence, type MatrixEntry } from './matrix.ts';
import { pageScript } from './page-script.ts';
import { PAGE_STYLE } from './page-style.ts';
import { ratesSection } from './rates-section.ts';
import { runViews, type RunView } from './run-view.ts';
import { verdictSentence } from './sentence.ts';
import { measureSentences, storesSection } from './stores-section.ts';
import { timelineSection } from './timeline-section.ts';
import { trendsSection } from './trends-section.ts';
import { verdictSection } from './verdict-section.ts';
import { count, name } from './words.ts';

export interface Beside {
  /** Counted in the matrix and not shown. */
  readonly others?: readonly ComparedRun[];
  /** How the cells of these runs did before. */
  readonly trends?: readonly Trend[];
}

/**
 * One page for one run or for several. The same runs give the same bytes. A finding's anchor is `#/f/<id>`; where an
 * earlier run on the page has the same finding, `#/f/<id>/2`. O(n log n) in the operations.
 */
export function renderReport(runs: readonly JudgedRun[], { others = [], trends = [] }: Beside = {}): string {
  const matrix = matrixOf(runViews(runs), others);
  const shown = matrix.entries.flatMap(({ view, ...entry }) =>
    view === undefined ? [] : { ...entry, view },
  );
  const only = matrix.entries.length === 1 ? shown[0]?.view : undefined;
  const title = only === undefined ? summarySentence(matrix) : verdictSentence(only);
  const script = pageScript();
  const policy = [
    "default-src 'none'",
    `style-src '${sourceHash(PAGE_STYLE)}'`,
    `script-src '${sourceHash(script)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${trusted(policy)}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · lockpick report</title>
        ${element('style', PAGE_STYLE)}
      </head>
      <body>
        <svg class="patterns" aria-hidden="true">${hatchings()}</svg>
        <header>
          <p class="brand">lockpick <span class="soft">report</span></p>
          <h1>
            ${only === undefined ? summarySentence(matrix) : `${only.cell}, ${name(only.run.plan.fault)}`}
          </h1>
          ${only === undefined ? ratesSection(matrix.entries.map(({ run }) => run)) : undefined}
          ${only === undefined ? matrixSection(matrix) : undefined}
        </header>
        <main>
          ${only === undefined ? trendsSection(trends) : undefined}
          ${shown.map((entry) => runSection(entry, only === undefined))}
          ${only === undefined ? undefined : trendsSection(trends)}
          <section class="reading-aid">
            <h2>How to read this page</h2>
            ${howToRead()}
          </section>
        </main>
        ${element('script type="module"', script)}
      </body>
    </html> `.markup;
}

/** One of our own files in its element, to the byte: the policy allows it by its hash. */
function element(opening: string, content: string): Html {
  return trusted(`<${opening}>${content}</${opening.split(' ', 1).join('')}>`);
}

function runSection({ view, row, column }: MatrixEntry & { readonly view: RunView }, titled: boolean): Html {
  const { anchor, findings } = view;
  const { plan, provenance, name: runName } = view.run;
  return html`<section class="run" id="${anchor}" data-row="${row}" data-column="${column}">
    ${titled ? html`<h2>${view.cell}, ${name(plan.fault)}</h2>` : html`<h2 class="spoken">Verdict</h2>`}
    <p class="soft">${name(runName, 200)} · seed ${name(plan.seed)} · started ${name(provenance.started)}</p>
    ${part('verdict', verdictSection(view))}
    ${part(
      'stores',
      html`<h3>Stores</h3>
        ${storesSection(view)}
        ${measureSentences(view.run.verdict.measures).map((sentence) => html`<p>${sentence}</p>`)}`,
    )}
    ${part(
      'timeline',
      html`<h3>Timeline</h3>
        ${timelineSection(view)}`,
    )}
    ${part(
      'charts',
      html`<h3>Charts</h3>
        ${chartsSection(view)}`,
    )}
    ${part(
      'findings',
      html`<h3 id="${anchor}-findings">
          Findings <span class="count">${findings.length === 0 ? '' : count(findings.length)}</span>
        </h3>
        ${findingsSection(view)}`,
    )}
    ${part(
      'faults',
      html`<h3>Faults</h3>
        ${faultsSection(view)}`,
    )}
    ${part(
      'operations',
      html`<h3>Operations</h3>
        <noscript
          ><p>The table is made by a script inside this file; history.jsonl has all operations.</p></noscript
        >
        <div class="operations"></div>`,
    )}
    ${part(
      'provenance',
      html`<h3>How it was run</h3>
        ${provenanceSection(view)}`,
    )}
  </section> `;
}

/** The page of one finding shows only some of them. */
function part(kind: string, content: Html): Html {
  return html`<div class="part part-${kind}">${content}</div>`;
}

function howToRead(): Html {
  return html`<ul class="reading">
    <li>
      A <strong>hold</strong> is what a client believes: from the moment its acquire was answered until it
      releases, is told of the loss, or dies. Two holds of one lock at one time are an overlap, and it did
      happen: intervals are only ever narrowed.
    </li>
    <li>
      A <strong>tenure</strong> is what the lock service promised: until the release, or one TTL after the
      last acquire or renewal was sent. A hold that outlives its tenure is a client that does not know it has
      lost the lock.
    </li>
    <li>
      <code>#118</code> is the id of an operation in <code>history.jsonl</code>; <code>ok</code> it happened,
      <code>fail</code> it did not and never will, <code>info</code> nobody knows, and it may still take
      effect.
    </li>
    <li>
      A fault counts from the moment at which a probe showed that it acted. “Safe” means: not broken by what
      was tried here; read how much that was.
    </li>
    <li>
      On the timeline: drag to pan; Ctrl + wheel, pinch, or the wheel after a click to zoom; ← → pan, + −
      zoom, 0 shows all, a click keeps what is told, Esc lets it go, <kbd>n</kbd> and <kbd>p</kbd> go to the
      next and previous finding anywhere on the page.
      <label><input type="checkbox" id="single-keys" checked /> use n and p</label>
    </li>
  </ul>`;
}

function sourceHash(source: string): string {
  return `sha256-${createHash('sha256').update(source).digest('base64')}`;
}
