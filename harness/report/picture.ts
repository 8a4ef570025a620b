// One finding as a picture of its own: the diagram of the page in an SVG file that brings its colours along, light and
// dark. Pure.

import type { Finding } from '../../checkers/verdict.ts';
import { findingDiagram } from './diagram.ts';
import { hatchings } from './hatchings.ts';
import { html, trusted } from './html.ts';
import type { JudgedRun } from './judged-run.ts';
import { PICTURE_STYLE } from './page-style.ts';
import { runViews } from './run-view.ts';

const STYLE = `${PICTURE_STYLE}
svg { font-family: system-ui, sans-serif; }
.picture-ground { fill: var(--paper); }
`;

/** The text of an SVG file; undefined if none of the finding's operations is in the history. */
export function findingPicture(run: JudgedRun, finding: Finding): string | undefined {
  const [view] = runViews([run]);
  const diagram = view === undefined ? undefined : findingDiagram(view, finding);
  if (diagram === undefined) return undefined;
  const { markup } = diagram;
  const [, box = ''] = /viewBox="0 0 ([\d.]+ [\d.]+)"/.exec(markup) ?? [];
  const [width = '', height = ''] = box.split(' ');
  return html`<svg
    xmlns="http://www.w3.org/2000/svg"
    width="${width}"
    height="${height}"
    viewBox="0 0 ${box}"
  >
    <style>
      ${trusted(STYLE)}
    </style>
    ${hatchings()}
    <rect class="picture-ground" width="100%" height="100%" />
    ${trusted(markup.replace('<svg ', `<svg width="${width}" height="${height}" `))}
  </svg> `.markup;
}
