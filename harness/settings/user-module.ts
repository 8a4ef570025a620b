// Loads a TypeScript or JavaScript module of the user's: the config file, an adapter. Bundled by esbuild into one text
// and imported from it, so any Node runs it, in a checkout and from the package, and nothing is written beside it.
// `lockpick` itself, which such a module imports for its types, is this installation, whatever node_modules has.

import { existsSync, statSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';
import { ownPackage } from '../client/own-package.ts';
import { EXIT_CODE, HarnessError, messageOf } from '../contract/errors.ts';

/** Begins the name by which stack traces call such a module. */
const IN_STACKS = 'lockpick-user-module:';

/** The file of the user's module that threw the error, by its stack; undefined: none did. */
export function userFileOf(error: unknown): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const at = stack.split('\n').find((line) => line.includes(IN_STACKS));
  return at === undefined
    ? undefined
    : at.slice(at.indexOf(IN_STACKS) + IN_STACKS.length).replace(/:\d+:\d+\)?$/, '');
}

/**
 * The exports of the module at `path`, relative to the working directory. `what` names it in errors. Throws
 * HarnessError('usage') if there is no such file, or it does not build or load.
 */
export async function loadUserModule(
  what: string,
  path: string,
  plugins: readonly Plugin[] = [],
): Promise<Readonly<Record<string, unknown>>> {
  const file = resolve(path);
  if (!existsSync(file))
    throw new HarnessError('usage', `${what} ${path} does not exist`, {
      remedy: 'the path is relative to the directory in which lockpick is started',
    });
  // A pipe or a device may never come to its end.
  if (!statSync(file).isFile())
    throw new HarnessError('usage', `${what} ${path} is no file`, { remedy: 'name the file of a module' });
  const text = await bundled(`${what} ${path}`, file, plugins);
  try {
    const named = Buffer.from(`${text}\n//# sourceURL=${IN_STACKS}${file}\n`).toString('base64');
    const exported: unknown = await settled(
      import(`data:text/javascript;base64,${named}`),
      `${what} ${path}`,
    );
    return typeof exported === 'object' && exported !== null ? { ...exported } : {};
  } catch (error) {
    if (error instanceof HarnessError) throw error;
    throw new HarnessError('usage', `${what} ${path} cannot be loaded: ${firstLines(messageOf(error))}`, {
      remedy: 'it throws when it is imported',
    });
  }
}

/** One text with all that it imports. */
async function bundled(subject: string, file: string, plugins: readonly Plugin[]): Promise<string> {
  const { build } = await import('esbuild');
  try {
    const { outputFiles } = await build({
      entryPoints: [file],
      absWorkingDir: dirname(file),
      bundle: true,
      write: false,
      platform: 'node',
      target: 'node22',
      format: 'esm',
      plugins: [ownPackage, ...plugins],
      // CommonJS inside calls `require` for Node's own modules; it is resolved as from the file itself.
      banner: {
        js: `import { createRequire } from 'node:module'; const require = createRequire(${JSON.stringify(pathToFileURL(file).href)});`,
      },
      logLevel: 'silent',
    });
    return outputFiles[0]?.text ?? '';
  } catch (error) {
    throw new HarnessError('usage', `${subject} cannot be loaded: ${firstLines(messageOf(error))}`, {
      remedy:
        extname(file) === '.json'
          ? 'write an object as JSON, {} at least'
          : 'it is bundled by esbuild: it must be correct, and each import must resolve from where the file is',
    });
  }
}

/** Until it is disposed: that the module ends the process is told, and is no success nor anything else that is ours. */
function sayingIfEnded(subject: string): Disposable {
  const onExit = (): void => {
    process.stderr.write(`lockpick: ${subject} ends the process → let it only export what it is to export\n`);
    process.exitCode = EXIT_CODE.usage;
  };
  process.once('exit', onExit);
  return { [Symbol.dispose]: () => process.off('exit', onExit) };
}

/** Rejects once nothing is left that could settle it; without this the process would end without a word of ours. */
async function settled<T>(loading: Promise<T>, subject: string): Promise<T> {
  const { promise: stuck, reject } = Promise.withResolvers<never>();
  const onIdle = (): void =>
    reject(
      new HarnessError('usage', `${subject} cannot be loaded: it never ends`, {
        remedy: 'something that it awaits at its top level never comes',
      }),
    );
  process.once('beforeExit', onIdle);
  using _ = sayingIfEnded(subject);
  try {
    return await Promise.race([loading, stuck]);
  } finally {
    process.off('beforeExit', onIdle);
  }
}

/** What `read` makes of the module's exports, whose getters are the user's code. Throws HarnessError('usage') if they do. */
export function readFromUser<T>(what: string, path: string, read: () => T): T {
  using _ = sayingIfEnded(`${what} ${path}`);
  try {
    return read();
  } catch (error) {
    throw new HarnessError('usage', `${what} ${path} cannot be read: ${firstLines(messageOf(error))}`, {
      remedy: 'export plain values; a getter in it throws',
    });
  }
}

/** Of a build error the summary and the first places; more scrolls away what matters. */
function firstLines(message: string): string {
  return message.trim().split('\n').slice(0, 4).join('\n  ');
}
