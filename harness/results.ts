// The results directory: one folder a run (6.2 of the design). The only reader and writer of it. `verdict.json` is
// written last and by renaming, so its presence means that the run is done.

import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { backendName } from './cell-name.ts';
import { HarnessError, messageOf } from './contract/errors.ts';
import type { Plan } from './plan.ts';
import { wallTime } from './clock.ts';
import { freshRunId } from './rng.ts';

/** The files of one run. */
export interface RunDirectory {
  readonly path: string;
  readonly name: string;
  readonly plan: string;
  readonly history: string;
  readonly verdict: string;
  readonly report: string;
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
    logs: file('logs'),
  };
}

/** Makes `<out>/<time>-<backend>[-<variant>]-<recipe>-<fault>-<short id>/`. Throws HarnessError('environment') if it cannot. */
export function createRunDirectory(out: string, plan: Plan): RunDirectory {
  const time = wallTime()
    .toISOString()
    .replace(/[-:]/g, '')
    .replace(/\.\d+Z$/, 'Z');
  const servers = backendName(plan).replace(':', '-');
  const name = [time, servers, plan.recipe, plan.fault, freshRunId()].join('-');
  return writing(join(out, name), (path) => {
    mkdirSync(join(path, 'logs'), { recursive: true });
    return runDirectory(path);
  });
}

/** Points `<out>/latest` to the run. */
export function markLatest(out: string, run: RunDirectory): void {
  const link = join(out, 'latest');
  rmSync(link, { force: true });
  symlinkSync(run.name, link);
}

export function writeFile(path: string, content: string): void {
  writing(path, () => writeFileSync(path, content));
}

/** Writes beside and renames: readers see the old file or the whole new one. */
export function writeAtomically(path: string, content: string): void {
  const beside = `${path}.${process.pid}.part`;
  writing(path, () => {
    writeFileSync(beside, content);
    renameSync(beside, path);
  });
}

/** One line a run, for trends. */
export function appendTrend(out: string, line: object): void {
  appendFileSync(join(out, 'history.jsonl'), `${JSON.stringify(line)}\n`);
}

/** The text of a file of a run. Throws HarnessError('usage') that says what is missing or cannot be read. */
export function readRunFile(path: string): string {
  if (!existsSync(path)) throw new HarnessError('usage', `${path} does not exist`);
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new HarnessError('usage', `cannot read ${path}: ${messageOf(error)}`);
  }
}

function writing<T>(path: string, write: (path: string) => T): T {
  try {
    return write(path);
  } catch (error) {
    throw new HarnessError('environment', `cannot write ${path}: ${messageOf(error)}`, {
      remedy: 'check the directory, its rights and the free space, or choose another with --out',
      cause: error,
    });
  }
}
