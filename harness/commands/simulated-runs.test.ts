// Simulated runs on several threads: the same as on one, told in the order of the plans; errors and signals end them in
// good order, also from the command line.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { DoneRun } from '../comparison/comparison.ts';
import type { Summary } from '../comparison/summary.ts';
import { parsePlan, type Plan } from '../plan/plan.ts';
import { vocabulary } from '../plan/vocabulary.ts';
import { onSimulation } from '../stages/on-simulation.ts';
import { recordRun } from './run-plan.ts';
import { runSimulated } from './simulated-runs.ts';

const out = mkdtempSync(join(tmpdir(), 'lockpick-threads-'));
afterAll(() => rmSync(out, { recursive: true, force: true }));

function planOf(seed: string, timeLimitMillis: string): Plan {
  const cell = { backend: 'redis-single', recipe: 'fenced-incr', fault: 'pause-holder' };
  return parsePlan(vocabulary, { ...cell, seed, timeLimitMillis, on: 'simulation' });
}

function hashOf({ directory }: Pick<DoneRun, 'directory'>): string {
  return createHash('sha256').update(readFileSync(directory.history)).digest('hex');
}

/** A signal that a test can send. */
function interruptible() {
  const wrapUp = new AbortController();
  const abandon = new AbortController();
  let signal: NodeJS.Signals | undefined;
  return {
    wrapUp: wrapUp.signal,
    abandon: abandon.signal,
    get signal() {
      return signal;
    },
    exitCode: undefined,
    send() {
      signal = 'SIGINT';
      wrapUp.abort(new Error('stopped'));
    },
    [Symbol.dispose]: () => undefined,
  };
}

function seedsIn(stdout: string): readonly string[] {
  const lines = stdout.trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as { plan: { seed: string } }).plan.seed);
}

/** Until so many runs in a directory have recorded more than their beginning. */
async function untilRecorded(count: number, directory: string): Promise<void> {
  const recorded = (): readonly string[] =>
    globSync('*/history.jsonl', { cwd: directory }).filter(
      (file) => statSync(join(directory, file)).size > 100_000,
    );
  while (recorded().length < count) await new Promise((resolve) => setTimeout(resolve, 20));
}

const shared = { out, reports: new Set<never>(), keep: 'always', threads: 2 } as const;

/** Some seconds of processor time each. */
const TIME = { timeout: 120_000 };

describe('simulated runs on two threads', TIME, () => {
  // The first one takes longest.
  const plans = [planOf('1', '4s'), planOf('2', '1s'), planOf('3', '1s')];

  it('are those of one thread, told in order', async () => {
    const interrupt = interruptible();
    const told: string[] = [];
    await runSimulated(plans, {
      ...shared,
      interrupt,
      onDone: (nth, { run, isWhole }) => told.push(`${nth} ${run.plan.seed} ${isWhole} ${hashOf(run)}`),
    });
    const observer = { phase: () => undefined, event: () => undefined };
    const alone: string[] = [];
    for (const [nth, plan] of plans.entries()) {
      const run = await recordRun(onSimulation(), plan, { ...shared, observer, interrupt });
      alone.push(`${nth} ${plan.seed} true ${hashOf(run)}`);
    }
    expect(told).toEqual(alone);
  });

  it('end at a plan that cannot be simulated, after those before it', async () => {
    const wrong = { fault: 'disk-full' };
    const [first, second = planOf('2', '1s')] = plans;
    const told: number[] = [];
    const running = runSimulated([first ?? second, { ...second, ...wrong }, second], {
      ...shared,
      interrupt: interruptible(),
      onDone: (nth) => told.push(nth),
    });
    await expect(running).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('the fault disk-full is not simulated'),
    });
    expect(told).toEqual([0]);
  });

  it('are judged and not whole when a signal ends them, and no more are begun', async () => {
    const interrupt = interruptible();
    const told: boolean[] = [];
    const interrupted = join(out, 'interrupted');
    const running = runSimulated(
      ['1', '2', '3'].map((seed) => planOf(seed, '10m')),
      {
        ...shared,
        out: interrupted,
        interrupt,
        onDone: (_, { run, isWhole }) => {
          told.push(isWhole);
          expect(JSON.parse(readFileSync(run.directory.verdict, 'utf8'))).toMatchObject({
            interrupted: true,
          });
        },
      },
    );
    await Promise.race([running, untilRecorded(2, interrupted)]);
    interrupt.send();
    await running;
    expect(told).toEqual([false, false]);
  });
});

describe('lockpick run --on simulation --seeds', TIME, () => {
  const cli = join(import.meta.dirname, '..', 'cli.ts');
  const cell = 'redis-single/fenced-incr/pause-holder';
  const start = (flags: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    spawn(process.execPath, [cli, 'run', cell, '--on', 'simulation', '--json', '--quiet', ...flags], {
      env: { ...process.env, ...env },
    });
  it('prints its runs in the order of the seeds, and ends with 130 after Ctrl-C', async () => {
    const child = start(['--seed', '7', '--seeds', '500', '--time-limit', '2s', '--out', out]);
    let stdout = '';
    child.stdout.on('data', (bytes: Buffer) => {
      if (stdout === '') child.kill('SIGINT');
      stdout += String(bytes);
    });
    const [status]: unknown[] = await once(child, 'close');
    const seeds = seedsIn(stdout);
    expect(seeds).toEqual(seeds.map((__, nth) => String(7 + nth)));
    expect(seeds.length).toBeLessThan(500);
    expect(status).toBe(130);
  });

  it('is told once that it cannot write', async () => {
    const own = join(out, 'occupied');
    mkdirSync(join(own, 'latest'), { recursive: true });
    const child = start(['--seeds', '5', '--out', own]);
    const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect(stderr).toBe(
      `lockpick: cannot write ${join(own, 'latest')}: it is there and is no link → move it away, or choose another directory\n`,
    );
    expect(status).toBe(69);
  });

  /** With a thread, or the main one, that dies. */
  async function dying(flags: readonly string[], env: NodeJS.ProcessEnv) {
    const fixture = pathToFileURL(join(import.meta.dirname, 'dying-thread.fixture.ts')).href;
    const options = `--import ${fixture} --max-old-space-size=256`;
    const child = start(flags, { ...env, NODE_OPTIONS: options });
    const [stdout, stderr, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<unknown[]>,
    ]);
    return { stdout, stderr, status };
  }

  it.skipIf(availableParallelism() < 2).each([
    ['error', 70, /its thread died: nobody catches this; .* → please report it, .*--seed 9[^]*TypeError/],
    ['rejection', 70, /its thread died: nobody catches this; .* → please report it, .*--seed 9[^]*TypeError/],
    ['exit', 70, /its thread ended with 3; .* → please report it, .*--seed 9/],
    ['memory', 69, /a thread of the simulation ran out of memory → give it more/],
  ])('says which run a thread died of (%s), and loses nothing of the others', async (what, code, words) => {
    const own = join(out, `dying-${what}`);
    const flags = ['--seed', '7', '--seeds', '50', '--time-limit', '8s', '--reporter', 'json', '--out', own];
    const { stdout, stderr, status } = await dying(flags, { DIES_WITH_SEED: '9', DIES_OF: what });
    expect(stderr).toMatch(words);
    expect(stderr.match(/^lockpick: /gm)).toHaveLength(1);
    expect(status).toBe(code);
    const seeds = seedsIn(stdout);
    expect(seeds.slice(0, 2)).toEqual(['7', '8']);
    expect(seeds).not.toContain('9');
    // What has a verdict is in the summary, and nothing was begun afterwards.
    const done = globSync('*/verdict.json', { cwd: own });
    expect(seeds).toHaveLength(done.length);
    expect(seeds.length).toBeLessThan(50);
    const summary = JSON.parse(readFileSync(join(own, 'summary.json'), 'utf8')) as Summary;
    const units = summary.cells.flatMap((row) => row.units.filter(({ outcome }) => outcome !== 'missing'));
    expect(units.map(({ seed }) => seed)).toEqual(seeds);
  });

  it('ends with 70 when the main thread dies of what nobody awaits', async () => {
    const own = join(out, 'dying-main');
    const flags = ['--seed', '7', '--time-limit', '60m', '--out', own];
    const { stderr, status } = await dying(flags, { DIES_ONCE_RECORDED: own, DIES_OF: 'rejection' });
    expect(stderr).toMatch(/this is a bug of lockpick itself, please report it:\nTypeError: nobody catches/);
    expect(status).toBe(70);
  });
});
