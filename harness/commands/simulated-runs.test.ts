// Simulated runs on several threads: the same as on one, told in the order of the plans; errors and signals end them in
// good order, also from the command line.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { DoneRun } from '../comparison/comparison.ts';
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

/** Until so many runs in a directory have recorded more than their beginning. */
async function untilRecorded(count: number, directory: string): Promise<void> {
  const recorded = (): readonly string[] =>
    globSync('*/history.jsonl', { cwd: directory }).filter(
      (file) => statSync(join(directory, file)).size > 100_000,
    );
  while (recorded().length < count) await new Promise((resolve) => setTimeout(resolve, 20));
}

const shared = { out, reports: new Set<never>(), keep: 'always', threads: 2 } as const;

describe('simulated runs on two threads', () => {
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

describe('lockpick run --on simulation --seeds', () => {
  it('prints its runs in the order of the seeds, and ends with 130 after Ctrl-C', async () => {
    const cli = join(import.meta.dirname, '..', 'cli.ts');
    const cell = 'redis-single/fenced-incr/pause-holder';
    const flags = [
      '--on',
      'simulation',
      '--seed',
      '7',
      '--seeds',
      '500',
      '--time-limit',
      '2s',
      '--json',
      '--quiet',
    ];
    const child = spawn(process.execPath, [cli, 'run', cell, ...flags, '--out', out]);
    let stdout = '';
    child.stdout.on('data', (bytes: Buffer) => {
      if (stdout === '') child.kill('SIGINT');
      stdout += String(bytes);
    });
    const [status]: unknown[] = await once(child, 'close');
    const lines = stdout.trim().split('\n');
    const seeds = lines.map((line) => (JSON.parse(line) as { plan: { seed: string } }).plan.seed);
    expect(seeds).toEqual(seeds.map((__, nth) => String(7 + nth)));
    expect(seeds.length).toBeLessThan(500);
    expect(status).toBe(130);
  });
});
