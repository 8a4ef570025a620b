// The results directory: one folder a run (6.2 of the design). The only reader and writer of it. `verdict.json` is
// written last and by renaming, so its presence means that the run is done.

import { constants as limits } from 'node:buffer';
import {
  accessSync,
  appendFileSync,
  closeSync,
  constants as access,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  type Dirent,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { backendName } from '../plan/cell-name.ts';
import { HarnessError, messageOf } from '../contract/errors.ts';
import type { Plan } from '../plan/plan.ts';
import { wallTime } from '../clock.ts';
import { freshRunId } from '../rng.ts';

/** The files of one run. */
export interface RunDirectory {
  readonly path: string;
  readonly name: string;
  readonly plan: string;
  readonly history: string;
  readonly verdict: string;
  readonly report: string;
  readonly junit: string;
  readonly summary: string;
  readonly findings: string;
  readonly logs: string;
}

export function runDirectory(path: string): RunDirectory {
  const file = (name: string): string => join(path, name);
  return {
    path,
    name: basename(resolve(path)),
    plan: file('plan.json'),
    history: file('history.jsonl'),
    verdict: file('verdict.json'),
    report: file('report.html'),
    junit: file('junit.xml'),
    summary: file('summary.md'),
    findings: file('findings'),
    logs: file('logs'),
  };
}

/** Makes `<out>/<time>-<backend>[-<variant>]-<recipe>-<fault>-<short id>/`. Throws HarnessError('environment') if it cannot. */
export function createRunDirectory(out: string, plan: Plan): RunDirectory {
  requireWritable(out);
  const time = wallTime()
    .toISOString()
    .replace(/[-:]/g, '')
    .replace(/\.\d+Z$/, 'Z');
  const servers = backendName(plan).replace(':', '-');
  const name = [time, servers, plan.recipe, plan.fault, freshRunId()].join('-');
  return writing(join(out, name), (path) => {
    makeDirectory(join(path, 'logs'));
    return runDirectory(path);
  });
}

/** Before work whose results shall go there. Throws HarnessError('environment') as writing them would. */
export function requireWritable(out: string): void {
  writing(out, (path) => {
    makeDirectory(path);
    accessSync(`${path}/.`, access.W_OK);
  });
  writing(join(out, 'latest'), requireLink);
}

function requireLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === false)
    throw new HarnessError('environment', `cannot write ${path}: it is there and is no link`, {
      remedy: 'move it away, or choose another directory',
    });
}

/** Points `<out>/latest` to the run, by renaming: another command may do the same. Never replaces what is no link. */
export function markLatest(out: string, run: RunDirectory): void {
  writing(join(out, 'latest'), (link) => {
    requireLink(link);
    const beside = `${link}.${process.pid}.part`;
    symlinkSync(run.name, beside);
    renameSync(beside, link);
  });
}

/** Makes the directories on the way where they are missing. */
export function writeFile(path: string, content: string): void {
  writing(path, () => {
    makeDirectory(dirname(path));
    writeFileSync(path, content);
  });
}

/** Runs in `out` that are done, by name, which begins with the time they started. */
export function doneRuns(out: string): readonly RunDirectory[] {
  if (!existsSync(out)) return [];
  return entriesOf(out)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => runDirectory(join(out, name)))
    .filter(({ plan, verdict }) => existsSync(plan) && existsSync(verdict))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw new HarnessError('usage', `cannot read ${folder}: ${messageOf(error)}`);
  }
}

/** Leaves of a run its plan and its verdict with their summaries: what counts, without what explains. */
export function dropEvidence({ history, report, findings, logs }: RunDirectory): void {
  for (const path of [history, report, findings, logs]) rmSync(path, { recursive: true, force: true });
}

/** Whether it can still be judged and shown. */
export function hasEvidence({ history }: RunDirectory): boolean {
  return existsSync(history);
}

/** What each node printed; empty if it was not kept. */
export function readLogs({
  logs,
}: RunDirectory): readonly { readonly node: string; readonly text: string }[] {
  if (!existsSync(logs)) return [];
  return entriesOf(logs)
    .flatMap(({ name }) => (name.endsWith('.log') ? [name] : []))
    .toSorted()
    .map((file) => ({ node: basename(file, '.log'), text: readRunFile(join(logs, file)) }));
}

/** Copies a run with all its files into `out`, unless it is there. */
export function copyRun(run: RunDirectory, out: string): RunDirectory {
  const path = join(out, run.name);
  if (resolve(path) !== resolve(run.path) && !existsSync(path))
    writing(path, () => {
      makeDirectory(out);
      cpSync(run.path, path, { recursive: true });
    });
  return runDirectory(path);
}

/** Writes beside and renames: readers see the old file or the whole new one. */
export function writeAtomically(path: string, content: string): void {
  const beside = `${path}.${process.pid}.part`;
  writing(path, () => {
    makeDirectory(dirname(path));
    writeFileSync(beside, content);
    renameSync(beside, path);
  });
}

/** One line a run, for trends. */
export function appendTrend(out: string, line: object): void {
  writing(join(out, 'history.jsonl'), (path) => {
    makeDirectory(out);
    appendFileSync(path, `${JSON.stringify(line)}\n`);
  });
}

/** The lines that `appendTrend` made, each with the name of its run. A line of other origin is passed over. */
export function readTrends(out: string): readonly (readonly [run: string, line: object])[] {
  const file = join(out, 'history.jsonl');
  if (!existsSync(file)) return [];
  return readRunFile(file)
    .split('\n')
    .flatMap((text) => {
      const line = objectOf(text);
      return line !== undefined && 'run' in line ? [[String(line.run), line] as const] : [];
    });
}

function objectOf(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const READ_BYTES = 1 << 20;

/** The text of a file in pieces: one read, because it may be a pipe. Throws HarnessError('usage') that says what is missing. */
function* piecesOf(path: string): Generator<string> {
  if (!existsSync(path)) throw new HarnessError('usage', `${path} does not exist`);
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const decoder = new StringDecoder('utf8');
    const bytes = Buffer.allocUnsafe(READ_BYTES);
    for (let length = readSync(file, bytes); length > 0; length = readSync(file, bytes))
      yield decoder.write(bytes.subarray(0, length));
    yield decoder.end();
  } catch (error) {
    throw new HarnessError('usage', `cannot read ${path}: ${messageOf(error)}`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Pieces that become one text. */
function collected(path: string, name: string) {
  let pieces: string[] = [];
  let length = 0;
  return {
    /** Throws HarnessError('usage') when no text can be that long: /dev/zero has no end. */
    add(piece: string): void {
      pieces.push(piece);
      length += piece.length;
      if (length > limits.MAX_STRING_LENGTH)
        throw new HarnessError(
          'usage',
          `cannot read ${path}: ${name} is longer than ${length - piece.length} characters`,
        );
    },
    take(): string {
      const text = pieces.join('');
      pieces = [];
      length = 0;
      return text;
    },
  };
}

/** The text of a file of a run. Throws HarnessError('usage') that says what is missing or cannot be read. */
export function readRunFile(path: string): string {
  const whole = collected(path, 'it');
  for (const piece of piecesOf(path)) whole.add(piece);
  return whole.take();
}

/** The lines of such a file, which may be longer than a text can be. Throws as `readRunFile` does. */
export function* readRunLines(path: string): Generator<string> {
  const line = collected(path, 'a line');
  for (const piece of piecesOf(path))
    for (const [nth, part] of piece.split('\n').entries()) {
      if (nth > 0) yield line.take();
      line.add(part);
    }
  const last = line.take();
  if (last !== '') yield last;
}

/** The JSON in such a file. Throws HarnessError('usage'), with the `remedy` if it is there and no JSON. */
export function readRunJson(path: string, options: { readonly remedy?: string } = {}): unknown {
  const text = readRunFile(path);
  try {
    // Some editors begin a file with a byte-order mark.
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new HarnessError('usage', `${path} is not JSON: ${messageOf(error)}`, options);
  }
}

/** What to do where nothing can be written. */
export const ROOM_TO_WRITE = 'check the directory, its rights and the free space, or choose another one';

/**
 * With those on the way. Node's own `recursive` tries for ever where a file system says of a directory that is there that
 * it is not, as /proc does to whoever makes something in it.
 */
function makeDirectory(path: string): void {
  const missing: string[] = [];
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) missing.push(at);
  for (const at of missing.toReversed())
    try {
      mkdirSync(at);
    } catch (error) {
      // Another command may have made it meanwhile.
      if (statSync(at, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
    }
}

function writing<T>(path: string, write: (path: string) => T): T {
  try {
    return write(path);
  } catch (error) {
    if (error instanceof HarnessError) throw error;
    throw new HarnessError('environment', `cannot write ${path}: ${messageOf(error)}`, {
      remedy: ROOM_TO_WRITE,
      cause: error,
    });
  }
}
