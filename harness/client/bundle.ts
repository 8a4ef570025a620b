// Makes the client program: `main.ts` and everything it imports as one file, which the coordinator puts into client
// containers. Bundled by esbuild when first needed, so that commands that start no client do not load it.

import { fileURLToPath } from 'node:url';
import { HarnessError } from '../contract/errors.ts';

/** Where the client image expects the program. */
export const CLIENT_PROGRAM_PATH = '/lockpick/client.mjs';

let bundled: Promise<Uint8Array> | undefined;

/** The program's bytes; bundled once per process (some 0.2 s). Throws HarnessError('internal') if it does not build. */
export function bundleClient(): Promise<Uint8Array> {
  bundled ??= bundle();
  return bundled;
}

async function bundle(): Promise<Uint8Array> {
  const { build } = await import('esbuild');
  // `main.ts` in a checkout, `main.js` in the package.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  try {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL(`./main.${extension}`, import.meta.url))],
      bundle: true,
      write: false,
      platform: 'node',
      target: 'node24',
      format: 'esm',
      // Optional native driver of `pg`, which we do not use.
      external: ['pg-native'],
      // Some dependencies are CommonJS and call `require` for Node's own modules.
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
      logLevel: 'silent',
    });
    const [program] = outputFiles;
    if (program === undefined) throw new Error('esbuild returned no file');
    return program.contents;
  } catch (error) {
    throw new HarnessError('internal', 'the client program cannot be bundled', { cause: error });
  }
}
