// Makes the client program: `main.ts` and everything it imports as a few files, which the coordinator puts into client
// containers. One file is the program; each driver that is imported when needed has its own, so a client's memory does
// not grow with the number of backends. Bundled by esbuild when first needed, so that commands that start no client do
// not load it.

import { basename, dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import { HarnessError } from '../contract/errors.ts';
import { ownPackage } from './own-package.ts';

/** Where the client image expects its program; `client.mjs` is what it runs. */
const PROGRAM_FOLDER = '/lockpick';

/** A file of the program, and where it belongs in a client container. */
export interface ProgramFile {
  readonly path: string;
  readonly content: Uint8Array;
}

const bundled = new Map<string, Promise<readonly ProgramFile[]>>();

/**
 * The program's files, with the adapter of that file in it; bundled once per process (some 0.3 s). Throws
 * HarnessError('internal') if it does not build.
 */
export function bundleClient(adapter?: string): Promise<readonly ProgramFile[]> {
  const known = bundled.get(adapter ?? '') ?? bundle(adapter);
  bundled.set(adapter ?? '', known);
  return known;
}

/** Puts the user's module where the program looks for adapters. */
function withAdapter(path: string): Plugin[] {
  return [
    ownPackage,
    {
      name: 'adapter',
      setup: (build) => {
        build.onLoad({ filter: /[\\/]client[\\/]adapters\.[jt]s$/ }, () => ({
          contents: `import { adapter } from ${JSON.stringify(resolve(path))}; export const adapters = [adapter];`,
          resolveDir: dirname(resolve(path)),
          loader: 'js',
        }));
      },
    },
  ];
}

async function bundle(adapter: string | undefined): Promise<readonly ProgramFile[]> {
  const [{ build }, { etcdProtocol }] = await Promise.all([import('esbuild'), import('./etcd-protocol.ts')]);
  // `main.ts` in a checkout, `main.js` in the package.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  try {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL(`./main.${extension}`, import.meta.url))],
      entryNames: 'client',
      outdir: PROGRAM_FOLDER,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      write: false,
      platform: 'node',
      target: 'node24',
      format: 'esm',
      // The program's text stays in memory; names stay, so that a stack trace still tells where.
      minifyWhitespace: true,
      minifySyntax: true,
      // Optional native driver of `pg`, which we do not use.
      external: ['pg-native'],
      plugins: [etcdProtocol, ...(adapter === undefined ? [] : withAdapter(adapter))],
      // Some dependencies are CommonJS and call `require` for Node's own modules.
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
      logLevel: 'silent',
    });
    return outputFiles.map(({ path, contents }) => ({
      path: `${PROGRAM_FOLDER}/${basename(path)}`,
      content: contents,
    }));
  } catch (error) {
    throw new HarnessError('internal', 'the client program cannot be bundled', { cause: error });
  }
}
