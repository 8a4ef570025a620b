// The script that goes into every report: the modules of `page/` and what they use of a library, bundled by esbuild when
// this module is loaded, since a page opened from disk may import nothing. Knows nothing of runs.

import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const { outputFiles } = buildSync({
  entryPoints: [fileURLToPath(new URL('./page/main.js', import.meta.url))],
  bundle: true,
  write: false,
  format: 'esm',
  charset: 'utf8',
  banner: { js: '// With parts of fflate, MIT License, Copyright (c) 2026 Arjun Barrett' },
});

export const PAGE_SCRIPT = `\n${outputFiles.map(({ text }) => text).join('\n')}`;
