// The hatchings that tell locks apart without colour, for SVG; the same as those of page/paint.js. Pure.

import { html, type Html } from './html.ts';

/** The definitions that diagram.css refers to, for an `<svg>` of the document. */
export function hatchings(): Html {
  const tiles = ['', 'M-2 2 2-2M0 8 8 0M6 10 10 6', 'M2 2h1M6 6h1', 'M0 0 8 8M0 8 8 0', 'M4 0V8', 'M0 4H8'];
  return html`<defs>
    ${tiles.map(
      (tile, lock) =>
        html`<pattern id="p-lock-${lock}" width="8" height="8" patternUnits="userSpaceOnUse"
          ><rect class="d-ground-${lock}" width="8" height="8" /><path class="d-hatch" d="${tile}"
        /></pattern>`,
    )}
    <pattern id="p-fault" width="8" height="8" patternUnits="userSpaceOnUse">
      <path class="d-fault-hatch" d="M-2 2 2-2M0 8 8 0M6 10 10 6" />
    </pattern>
  </defs>`;
}
