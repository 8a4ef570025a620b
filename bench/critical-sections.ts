// How many critical sections a second the store and all that records them let through, where hardly anything contends:
// `node bench/critical-sections.ts [defence…]`. Runs the counter on redis-single with 20 locks, no think time and one
// defence at a time, and prints accepted writes for each second of load, and which part of the tries for a lock found it
// taken. Redis keeps nothing on disk here: with a flush for each grant and release the disk would be measured. Needs an
// engine with images built.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJournal } from '../harness/history/journal.ts';

const LOAD_SECONDS = 10;
const LOCKS = 20;
/** Each picks its lock at random, so the more there are the more they get into each other's way. */
const CLIENTS = [2, 3, 4];
const defences = process.argv.length > 2 ? process.argv.slice(2) : ['none', 'version-cas'];
const cli = join(import.meta.dirname, '../harness/cli.ts');

const rows: {
  defence: string;
  clients: number;
  sectionsPerSecond: number;
  operationsPerSecond: number;
  contendedPercent: number;
}[] = [];
for (const defence of defences)
  for (const clients of CLIENTS) {
    const out = mkdtempSync(join(tmpdir(), 'lockpick-bench-'));
    const flags = {
      defences: defence,
      locks: LOCKS,
      clients,
      think: '0',
      idle: '0',
      poll: '1ms',
      'time-limit': `${LOAD_SECONDS}s`,
      out,
    };
    const ended = spawnSync(
      process.execPath,
      [
        cli,
        'run',
        'redis-single:no-persistence/set-nx-px/none/counter',
        ...Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, String(value)]),
        '--quiet',
      ],
      { encoding: 'utf8' },
    );
    if (ended.stdout === '') throw new Error(`the run gave no verdict: ${ended.stderr}`);
    const { operations } = readJournal(join(out, 'latest', 'history.jsonl'));
    const sections = operations.filter(({ op, outcome }) => op === 'write' && outcome === 'ok').length;
    const acquires = operations.filter(({ op }) => op === 'acquire');
    rows.push({
      defence,
      clients,
      sectionsPerSecond: Math.round(sections / LOAD_SECONDS),
      operationsPerSecond: Math.round(operations.length / LOAD_SECONDS),
      contendedPercent: Math.round(
        (100 * acquires.filter(({ outcome }) => outcome === 'fail').length) / acquires.length,
      ),
    });
    rmSync(out, { recursive: true, force: true });
  }
console.table(rows);
