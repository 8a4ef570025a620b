// The style and the script that go into every report: the real files of `page/`, read once when this module is loaded,
// beside the sources as beside the compiled package. The script's modules are joined into one, since a page opened from
// disk may import nothing; so they share one scope and must not use a name twice. Knows nothing of runs.

import { readFileSync } from 'node:fs';

/** In an order in which each needs only those before it. */
const SCRIPT_FILES = [
  'unpack.js',
  'view.js',
  'pyramid.js',
  'layout.js',
  'paint.js',
  'scene.js',
  'draw-lanes.js',
  'draw-findings.js',
  'overview.js',
  'draw.js',
  'point.js',
  'tip.js',
  'timeline.js',
  'chart-scales.js',
  'chart-marks.js',
  'chart-painters.js',
  'charts.js',
  'operation-filter.js',
  'operations.js',
  'filter.js',
  'finding-page.js',
  'main.js',
];

/** What a picture of its own needs, and then the page. */
const PICTURE_STYLE_FILES = ['colours.css', 'diagram.css'];
const STYLE_FILES = [...PICTURE_STYLE_FILES, 'page.css', 'figures.css'];

function pageFile(file: string): string {
  return readFileSync(new URL(`./page/${file}`, import.meta.url), 'utf8');
}

/** The modules without their import lines and the word `export`. */
function joined(files: readonly string[]): string {
  return files
    .map((file) =>
      pageFile(file)
        .replace(/^import\s[^;]*;\n/gm, '')
        .replace(/^export /gm, ''),
    )
    .join('\n');
}

export const PAGE_STYLE = `\n${STYLE_FILES.map(pageFile).join('\n')}`;
export const PICTURE_STYLE = PICTURE_STYLE_FILES.map(pageFile).join('\n');
export const PAGE_SCRIPT = `\n${joined(SCRIPT_FILES)}`;
