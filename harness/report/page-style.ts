// The style that goes into every report: the real files of `page/`, read once when this module is loaded, beside the
// sources as beside the compiled package. Knows nothing of runs.

import { readFileSync } from 'node:fs';

/** What a picture of its own needs, and then the page. */
const PICTURE_STYLE_FILES = ['colours.css', 'diagram.css'];
const STYLE_FILES = [...PICTURE_STYLE_FILES, 'page.css', 'figures.css'];

function pageFile(file: string): string {
  return readFileSync(new URL(`./page/${file}`, import.meta.url), 'utf8');
}

export const PAGE_STYLE = `\n${STYLE_FILES.map(pageFile).join('\n')}`;
export const PICTURE_STYLE = PICTURE_STYLE_FILES.map(pageFile).join('\n');
