// The script that goes into every report: the modules of `page/` and what they use of a library, bundled by esbuild when
// the first report is made, since a page opened from disk may import nothing. Knows nothing of runs.

import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

let bundled: string | undefined;

/** The same text at each call, whatever machine and directory it is called in. */
export function pageScript(): string {
  bundled ??= bundle();
  return bundled;
}

function bundle(): string {
  const { outputFiles } = buildSync({
    // The bundle names its files: from here, and not as links lead, else it would tell of the machine and of where
    // lockpick was started.
    absWorkingDir: fileURLToPath(new URL('./page', import.meta.url)),
    preserveSymlinks: true,
    entryPoints: ['main.js'],
    // Nor does it depend on a tsconfig.json: the page's own is for the compiler, and extends one that a package lacks.
    tsconfigRaw: {},
    bundle: true,
    write: false,
    format: 'esm',
    charset: 'utf8',
    banner: { js: '// With parts of fflate, MIT License, Copyright (c) 2026 Arjun Barrett' },
  });
  return `\n${outputFiles.map(({ text }) => text).join('\n')}`;
}
