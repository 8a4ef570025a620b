// The checkers against Porcupine on the same files: `node bench/models.ts [--seconds N] [--rows FROM-TO] [--of ours|porcupine]
// [--public DIR]`.
// Makes each history of `rows.ts` from its seed, judges it with lockpick and, where Go is present, with Porcupine, each in a
// fresh process, and prints what they took. Rows that were not measured keep what `models.json` has of them, so a long
// table can be measured in parts. The results go into `models.json` and, as a table, into the README.

import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  openSync,
  closeSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { arch, cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { linesOf, type Shape } from './generator.ts';
import { measurePublic } from './public.ts';
import { ROWS, type Row } from './rows.ts';
import {
  README_PATH,
  readResults,
  RESULTS_PATH,
  tableOf,
  withTable,
  type Measured,
  type MeasuredCommand,
  type MeasuredRow,
  type Results,
} from './table.ts';

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    gigabytes: { type: 'string', default: '12' },
    rows: { type: 'string', default: `1-${ROWS.length}` },
    of: { type: 'string', default: 'both' },
    public: { type: 'string' },
  },
});
const TIMES = 3;
const LONG_MILLIS = 3_000;
const folder = mkdtempSync(join(tmpdir(), 'lockpick-bench-'));

/** The driver over Porcupine, built; undefined: there is no Go here. */
function buildPorcupine(): string | undefined {
  const program = join(folder, 'porcupine');
  const built = spawnSync('go', ['build', '-o', program, '.'], {
    cwd: join(import.meta.dirname, 'porcupine'),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return built.status === 0 ? program : undefined;
}

function write(path: string, shape: Shape): void {
  const file = openSync(path, 'w');
  let pending = '';
  for (const line of linesOf(shape)) {
    pending += `${line}\n`;
    if (pending.length < 1 << 20) continue;
    writeSync(file, pending);
    pending = '';
  }
  writeSync(file, pending);
  closeSync(file);
}

/** The best of several tries, in a fresh process each; what takes long is tried once. */
function best(program: string, args: readonly string[]): Measured {
  const first = measured(program, args);
  if (first.readMillis + first.checkMillis > LONG_MILLIS) return first;
  const others = Array.from({ length: TIMES - 1 }, () => measured(program, args));
  const least = others.reduce((low, next) => (next.checkMillis < low.checkMillis ? next : low), first);
  const again = [first, ...others].flatMap(({ againMillis }) => againMillis ?? []);
  return again.length === 0 ? least : { ...least, againMillis: Math.min(...again) };
}

function measured(program: string, args: readonly string[]): Measured {
  const { stdout, stderr, status } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { ...process.env, LOCKPICK_BENCH_GIB: flags.gigabytes },
  });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${stderr}`);
  // Whatever else it prints, the last line is the result.
  const result = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Measured;
  const { verdict, readMillis, checkMillis, againMillis, megabytes } = result;
  return {
    verdict,
    readMillis: round(readMillis),
    checkMillis: round(checkMillis),
    ...(typeof againMillis === 'number' && { againMillis: round(againMillis) }),
    megabytes,
  };
}

/** What is not measured now stays as it was kept. */
function measure({ name, shape, judgedBy }: Row, porcupine: string | undefined): MeasuredRow {
  const path = join(folder, 'history.jsonl');
  write(path, shape);
  const model = judgedBy.replace('search:', '');
  const isComparable = model === 'owned-mutex' || model === 'register';
  const theirs =
    porcupine !== undefined && isComparable && flags.of !== 'ours'
      ? best(porcupine, [path, model, flags.seconds])
      : undefined;
  const before = keptRow(name);
  const ours =
    flags.of === 'porcupine' && before !== undefined
      ? before.ours
      : best(process.execPath, [join(import.meta.dirname, 'ours.ts'), path, judgedBy]);
  return { name, ours, porcupine: theirs ?? (isComparable ? (before?.porcupine ?? null) : null) };
}

/** Start to end, the best of several. */
function measureCommands(): MeasuredCommand[] {
  const path = join(folder, 'history.jsonl');
  const [first] = ROWS;
  if (first === undefined) return [];
  write(path, first.shape);
  const cli = join(import.meta.dirname, '../harness/cli.ts');
  const commands = { 'lockpick --help': ['--help'], 'lockpick check history.jsonl': ['check', path] };
  return Object.entries(commands).map(([name, args]) => {
    const times = Array.from({ length: 3 * TIMES }, () => {
      const began = performance.now();
      spawnSync(process.execPath, [cli, ...args]);
      return performance.now() - began;
    });
    return { name, millis: Math.round(Math.min(...times)) };
  });
}

function round(millis: number): number {
  return Math.round(millis * 100) / 100;
}

function machine(): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores (${cpus()[0]?.model.trim() ?? arch()}), ${memory} GiB, Node ${process.versions.node}`;
}

function kept(): Results | undefined {
  return existsSync(RESULTS_PATH) ? readResults() : undefined;
}

function keptRow(name: string): MeasuredRow | undefined {
  return kept()?.rows.find((row) => row.name === name);
}

/** At once: the next row may take minutes. */
function keep(found: Partial<Pick<Results, 'rows' | 'commands' | 'publicHistories'>>): void {
  const before = kept();
  const rows = new Map([...(before?.rows ?? []), ...(found.rows ?? [])].map((row) => [row.name, row]));
  const results: Results = {
    machine: machine(),
    seconds: Number(flags.seconds),
    gigabytes: Number(flags.gigabytes),
    rows: ROWS.flatMap(({ name }) => rows.get(name) ?? []),
    commands: found.commands ?? before?.commands ?? [],
    publicHistories: found.publicHistories ?? before?.publicHistories ?? null,
  };
  writeFileSync(RESULTS_PATH, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(README_PATH, withTable(readFileSync(README_PATH, 'utf8'), tableOf(results)));
}

try {
  const porcupine = buildPorcupine();
  if (porcupine === undefined) process.stderr.write('no Go here: ours is measured alone\n');
  // Of the table, counted from 1; 0 is none. A row with which Porcupine has a hard time takes minutes.
  const [from = 1, to = from] = flags.rows.split('-').map(Number);
  for (const row of ROWS.slice(Math.max(from - 1, 0), to)) {
    const result = measure(row, porcupine);
    process.stdout.write(`${JSON.stringify(result)}\n`);
    keep({ rows: [result] });
  }
  if (from === 1) keep({ commands: measureCommands() });
  if (flags.public !== undefined && porcupine !== undefined)
    keep({
      publicHistories: measurePublic(flags.public, { porcupine, scratch: folder, seconds: flags.seconds }),
    });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
