// What a run costs beside its load, and how much a client gets done: `node bench/run-cost.ts [times]`. Runs
// `lockpick run redis-single --time-limit 20s --think 0` with 5 clients on 3 locks, and prints seconds in all, recorded
// operations per second, and the memory of an idle client. Needs an engine with images built.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJournal } from '../harness/history/journal.ts';

const LOAD_SECONDS = 20;
const times = Number(process.argv[2] ?? '3');
const cli = join(import.meta.dirname, '../harness/cli.ts');

const rows: {
  fault: string;
  seconds: number;
  overhead: number;
  operationsPerSecond: number;
  grants: number;
}[] = [];
for (const fault of ['none', 'pause-holder'])
  for (let run = 0; run < times; run++) {
    const out = mkdtempSync(join(tmpdir(), 'lockpick-bench-'));
    const began = performance.now();
    const ended = spawnSync(
      process.execPath,
      [
        cli,
        'run',
        'redis-single/set-nx-px',
        '--fault',
        fault,
        '--time-limit',
        `${LOAD_SECONDS}s`,
        '--think',
        '0',
        '--idle',
        '0',
        '--out',
        out,
        '--quiet',
      ],
      { encoding: 'utf8' },
    );
    const seconds = (performance.now() - began) / 1000;
    if (ended.stdout === '') throw new Error(`the run gave no verdict: ${ended.stderr}`);
    const { operations } = readJournal(join(out, 'latest', 'history.jsonl'));
    rows.push({
      fault,
      seconds: Number(seconds.toFixed(1)),
      overhead: Number((seconds - LOAD_SECONDS).toFixed(1)),
      operationsPerSecond: Math.round(operations.length / LOAD_SECONDS),
      grants: operations.filter(({ op, outcome }) => op === 'acquire' && outcome === 'ok').length,
    });
    rmSync(out, { recursive: true, force: true });
  }
console.table(rows);
