// How long a command takes that does next to nothing: `node bench/start-up.ts [times]`. `--help`, and `check` of a
// history of 1,000 operations. Pure reading: no engine.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const times = Number(process.argv[2] ?? '20');
const cli = join(import.meta.dirname, '../harness/cli.ts');
const folder = mkdtempSync(join(tmpdir(), 'lockpick-bench-'));
const history = join(folder, 'history.jsonl');

/** One client that takes and gives back one lock, 500 times. */
function historyOfThousand(): string {
  const lines: object[] = [
    {
      format: 'lockpick-history',
      version: 1,
      clock: 'shared',
      clockErrorNanos: 0,
      meta: { ttlMillis: 1000 },
    },
  ];
  for (let id = 1; id <= 1000; id += 2) {
    const time = id * 1e6;
    const acquire = { process: 'c1', op: 'acquire', lock: 'k1' };
    lines.push(
      { type: 'invoke', id, time, ...acquire, ttlMillis: 1000, owner: `o${id}` },
      { type: 'ok', id, time: time + 1e5, ...acquire },
      { type: 'invoke', id: id + 1, time: time + 2e5, ...acquire, op: 'release' },
      { type: 'ok', id: id + 1, time: time + 3e5, ...acquire, op: 'release', released: true },
    );
  }
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
}

function median(args: readonly string[]): {
  readonly min: number;
  readonly median: number;
  readonly max: number;
} {
  const all = Array.from({ length: times }, () => {
    const began = performance.now();
    const { status, stderr } = spawnSync(process.execPath, [cli, ...args], { encoding: 'utf8' });
    if (status !== 0 && status !== 2) throw new Error(`lockpick ${args.join(' ')} failed: ${stderr}`);
    return performance.now() - began;
  }).toSorted((a, b) => a - b);
  const at = (index: number): number => Math.round(all[index] ?? Number.NaN);
  return { min: at(0), median: at(Math.floor(all.length / 2)), max: at(all.length - 1) };
}

writeFileSync(history, historyOfThousand());
console.table({
  'node alone': medianOfNode(),
  '--help': { ...median(['--help']), goal: 120 },
  'check of 1,000 operations': { ...median(['check', history]), goal: 250 },
  explain: median(['explain', 'double-grant']),
});
rmSync(folder, { recursive: true });

/** What of it is Node itself. */
function medianOfNode(): { readonly median: number } {
  const all = Array.from({ length: times }, () => {
    const began = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    return performance.now() - began;
  }).toSorted((a, b) => a - b);
  return { median: Math.round(all[Math.floor(times / 2)] ?? Number.NaN) };
}
