// The generated pages of the documentation, and the program that writes them: `npm run docs`. A test fails when one is out
// of date.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backendsPage } from './backends-page.ts';
import { verdictsPage } from './verdicts-page.ts';

/** Path from the root of the repository → text. */
export function generatedPages(): ReadonlyMap<string, string> {
  return new Map([['docs/backends.md', `${backendsPage()}\n`], ...verdictsPage()]);
}

if (import.meta.main)
  for (const [path, text] of generatedPages()) writeFileSync(join(import.meta.dirname, '../..', path), text);
