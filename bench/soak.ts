// How much memory a long run takes: `node bench/soak.ts [minutes, 30]`. One run of a lock whose holders are paused again
// and again; its memory is read every ten seconds, while it records and while it judges and reports. Linux; needs an
// engine with images built.

import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SAMPLE_EVERY_MILLIS = 10_000;
const minutes = Number(process.argv[2] ?? '30');
const out = mkdtempSync(join(tmpdir(), 'lockpick-bench-'));
const cli = join(import.meta.dirname, '../harness/cli.ts');
const command = 'run redis-single/fenced-incr/pause-holder --seed soak --no-color --quiet';
const run = spawn(
  process.execPath,
  [cli, ...command.split(' '), '--time-limit', `${minutes}m`, '--out', out],
  { stdio: ['ignore', 'inherit', 'inherit'] },
);
const status = `/proc/${run.pid}/status`;
const began = performance.now();
const samples: { readonly seconds: number; readonly megabytes: number }[] = [];

const timer = setInterval(() => {
  const kibibytes = /VmRSS:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1];
  samples.push({ seconds: (performance.now() - began) / 1000, megabytes: (Number(kibibytes) * 1024) / 1e6 });
}, SAMPLE_EVERY_MILLIS);
await new Promise((resolve) => run.once('exit', resolve));
clearInterval(timer);

const loadSeconds = minutes * 60;
const quarter = loadSeconds / 4;
for (let part = 0; part < 4; part++)
  tell(`quarter ${part + 1} of the load`, part * quarter, (part + 1) * quarter);
tell('judging and reporting', loadSeconds, Infinity);
const [directory = ''] = readdirSync(out).filter((name) => /^\d{8}T/.test(name));
const history = join(out, directory, 'history.jsonl');
process.stdout.write(`history: ${Math.round(statSync(history).size / 1e6)} MB\n`);
rmSync(out, { recursive: true });

function tell(what: string, from: number, to: number): void {
  const sizes = samples
    .filter(({ seconds }) => seconds >= from && seconds < to)
    .map(({ megabytes }) => Math.round(megabytes))
    .toSorted((a, b) => a - b);
  const middle = sizes[Math.floor(sizes.length / 2)];
  process.stdout.write(`${what}: median ${middle ?? '–'} MB, most ${sizes.at(-1) ?? '–'} MB\n`);
}
