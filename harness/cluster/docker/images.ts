// Makes sure that the images of a cluster exist: ours are built by `docker/images.sh` (which knows when there is nothing
// to do), references of others are pulled. What is returned is recorded in the run, with the digest that was used.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { HarnessError, messageOf } from '../../contract/errors.ts';
import { dockerScript } from './docker-folder.ts';
import { ask, engineStatus, type Engine } from './engine.ts';

export interface Image {
  readonly reference: string;
  /** The image's id: a digest of its contents and configuration. */
  readonly digest: string;
}

/** By the name that a `NodeSpec` gives, which is one of ours or itself a reference. */
export type Images = Readonly<Record<string, Image>>;

/** Owns a node's network namespace; every cluster needs it. */
export const SANDBOX_IMAGE = 'sandbox';

export interface ImagesRequest {
  readonly names: readonly string[];
  /** Name → the reference to use in its place. */
  readonly overrides?: Readonly<Record<string, string>>;
  /** Gets one line at a time while something is built or pulled. */
  readonly say?: (line: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * Builds or pulls what is missing: minutes the first time, 0.2 s when all is there. The sandbox is always included.
 * Throws HarnessError('environment') if an image cannot be had.
 */
export async function ensureImages(engine: Engine, request: ImagesRequest): Promise<Images> {
  const { overrides = {}, say = () => {}, signal } = request;
  const names = [...new Set([SANDBOX_IMAGE, ...request.names])];
  const ours = names.filter((name) => overrides[name] === undefined && isOurs(name));
  const references = new Map(names.map((name) => [name, overrides[name] ?? name]));
  const built = ours.length === 0 ? [] : await runImagesScript(ours, { say, ...(signal && { signal }) });
  for (const { name, reference } of built) references.set(name, reference);
  const entries: [string, Image][] = [];
  for (const [name, reference] of references) {
    signal?.throwIfAborted();
    const digest = (await digestOf(engine, reference)) ?? (await pull(engine, reference, say));
    entries.push([name, { reference, digest }]);
  }
  return Object.fromEntries(entries);
}

/** Our images as they would be used; `present` false: a run would build it first. Builds nothing. */
export async function ourImages(): Promise<{ name: string; reference: string; present: boolean }[]> {
  const lines = await runImagesScript([], { check: true, say: () => {} });
  return lines.map(({ name, reference: words }) => {
    const [reference = '', word] = words.split(' ');
    return { name, reference, present: word === 'present' };
  });
}

/** `docker/images.sh` can build it. */
function isOurs(name: string): boolean {
  return existsSync(join(dirname(dockerScript('images.sh')), name, 'Dockerfile'));
}

async function digestOf(engine: Engine, reference: string): Promise<string | undefined> {
  try {
    return (await ask(`inspect image ${reference}`, engine.docker.getImage(reference).inspect())).Id;
  } catch (error) {
    if (engineStatus(error) === 404) return undefined;
    throw error;
  }
}

async function pull(engine: Engine, reference: string, say: (line: string) => void): Promise<string> {
  say(`pulling ${reference}`);
  let cause: unknown;
  try {
    await engine.pull(reference);
  } catch (error) {
    cause = error;
  }
  const digest = await digestOf(engine, reference);
  if (digest !== undefined) return digest;
  throw new HarnessError('environment', `image ${reference} is not on this engine and could not be pulled`, {
    remedy: `docker pull ${reference} says more; docker load brings an image in from a file`,
    ...(cause !== undefined && { detail: messageOf(cause), cause }),
  });
}

interface ScriptOptions {
  readonly check?: boolean;
  readonly say: (line: string) => void;
  readonly signal?: AbortSignal;
}

const COMPLAINT_LINES = 30;

/**
 * Runs the script for these names, or for all there are. Its `name=reference` lines; with `check`, the reference says if
 * it is present.
 */
async function runImagesScript(
  names: readonly string[],
  { check = false, say, signal }: ScriptOptions,
): Promise<{ name: string; reference: string }[]> {
  const script = spawn('bash', [dockerScript('images.sh'), ...(check ? ['--check'] : []), ...names], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(signal && { signal }),
  });
  const found: { name: string; reference: string }[] = [];
  createInterface(script.stdout).on('line', (line) => {
    const [name = '', reference = ''] = line.split(/=(.*)/);
    found.push({ name, reference });
  });
  const complaints: string[] = [];
  createInterface(script.stderr).on('line', (line) => {
    say(line);
    complaints.push(line);
    if (complaints.length > COMPLAINT_LINES) complaints.shift();
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    script.on('error', (error) => reject(error));
    script.on('close', (code) => resolve(code));
  }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw new HarnessError('environment', `bash could not be started: ${messageOf(error)}`, { cause: error });
  });
  if (exitCode === 0 || (check && exitCode === 1)) return found;
  throw new HarnessError(
    'environment',
    `the images cannot be built: ${complaints.at(-1) ?? `exit code ${exitCode}`}`,
    {
      remedy: 'bash docker/images.sh shows the whole build',
      detail: complaints.join('\n'),
    },
  );
}
