// The generated pages of the documentation, and the program that writes them: `npm run docs`. A test fails when one is out
// of date. `--comparison FILE` first keeps another comparison.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { backendsPage } from './backends-page.ts';
import { comparisonPage, currentReadme } from './comparison-page.ts';
import { keepComparison, keptComparison } from './kept-comparison.ts';
import { verdictsPage } from './verdicts-page.ts';

/** Path from the root of the repository → text. */
export function generatedPages(): ReadonlyMap<string, string> {
  return new Map([
    ['docs/backends.md', `${backendsPage()}\n`],
    ['docs/comparison.md', comparisonPage(keptComparison())],
    ['README.md', currentReadme()],
    ...verdictsPage(),
  ]);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { comparison: { type: 'string' } } });
  if (values.comparison !== undefined)
    keepComparison(values.comparison, (line) => process.stderr.write(`${line}\n`));
  for (const [path, text] of generatedPages()) writeFileSync(join(import.meta.dirname, '../..', path), text);
}
