// The main job on real containers: catalogued cells are run and must show what theory expects of them, and the cells
// that tell the story are looked at more closely. A failure prints the command that runs it again.
// Two runs at a time: one mostly waits, for leases and for faults to end.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogue, settingsOf } from './plan/catalogue.ts';
import type { Cell } from './plan/cells/cell.ts';
import { runPlan } from './commands/run-plan.ts';
import { scenarioNamed } from './nemesis/schedule.ts';
import { onDocker } from './stages/on-docker.ts';
import { containersRefuse } from './stages/only-simulated.ts';
import type { Stage } from './stages/stage.ts';
import { cellName } from './plan/cell-name.ts';
import { parsePlan, type PlanInput } from './plan/plan.ts';
import type { RunObserver } from './run.ts';
import { replayCommand, type StoredRun } from './stored/stored-run.ts';
import { vocabulary } from './plan/vocabulary.ts';

const never = new AbortController().signal;
const silent: RunObserver = { phase: () => {}, event: () => {} };

let stage: Stage;
let out: string;
beforeAll(async () => {
  out = mkdtempSync(join(tmpdir(), 'lockpick-results-'));
  stage = await onDocker(() => {});
});
afterAll(() => rmSync(out, { recursive: true, force: true }));

/** Where the service itself looks for what has run out, up to half a second late, some pauses end before a lease does. */
const LATE: ReadonlySet<string> = new Set(['etcd', 'zookeeper']);

/** For a busy machine: a lease that is not to run out outlasts it, and a hold lasts until the signal to stop is there. */
function calm({ backend, fault, workload, expected }: Cell): PlanInput {
  if (expected.grade === 'safe')
    return workload === 'long-hold'
      ? { ttlMillis: '2s', thinkMillis: '2200ms..2500ms' }
      : { ttlMillis: '5s' };
  if (fault !== 'pause-holder' || workload === 'long-hold') return {};
  return { thinkMillis: '200ms..340ms', ...(LATE.has(backend) && { ttlMillis: '3s' }) };
}

function timeLimitOf({ backend, fault, workload, expected }: Cell): string {
  if (workload === 'long-hold' && expected.grade === 'safe') return '20s';
  if (!LATE.has(backend)) return '8s';
  return fault === 'pause-holder' ? '20s' : '12s';
}

async function torture(cell: Cell, seed: string, settings: PlanInput = {}): Promise<StoredRun> {
  const { backend, variant, recipe, fault, workload } = cell;
  const named = { backend, variant, recipe, fault, workload, timeLimitMillis: timeLimitOf(cell) };
  const own = [calm(cell), settingsOf(cell)];
  // Of work that outlives the lease each is told by the other.
  if (workload === 'long-hold') own.reverse();
  const plan = parsePlan(vocabulary, named, ...own, settings, { seed });
  return await runPlan(stage, plan, { out, observer: silent, interrupt: { wrapUp: never, abandon: never } });
}

function cellNamed(name: string): Cell {
  const cell = catalogue.find((candidate) => cellName(candidate) === name);
  if (cell === undefined) throw new Error(`no such cell: ${name}`);
  return cell;
}

function codes({ verdict }: StoredRun): Set<string> {
  return new Set([...verdict.findings, ...verdict.liveness].map(({ code }) => code));
}

function expectAsExpected(run: StoredRun): void {
  const why = [`again: ${replayCommand(run.plan)}`, ...run.verdict.surprises].join('\n');
  expect(run.verdict.surprises, why).toEqual([]);
  expect(run.verdict.asExpected, why).toBe(true);
  expect(run.exitCode, why).toBe(0);
}

/**
 * A tour that keeps the tests within minutes: one cell of each backend, variant and expected grade, of the backend that
 * the others resemble of long holds as well, and one of each other workload. LOCKPICK_CELLS=all runs every cell.
 */
function stopOfTour({ backend, variant, workload, expected }: Cell): string {
  if (workload !== 'counter' && workload !== 'long-hold') return workload;
  return [backend, variant, backend === 'redis-single' ? workload : '', expected.grade].join('/');
}

const possible = catalogue.filter(
  ({ fault }) => containersRefuse(scenarioNamed(fault)?.faults ?? []) === undefined,
);
const cells =
  process.env['LOCKPICK_CELLS'] === 'all'
    ? possible
    : [...Map.groupBy(possible, stopOfTour).values()].flatMap(([first]) => first ?? []);

describe('catalogued cells show what theory expects', () => {
  it.concurrent.each(cells.map((cell) => ({ name: cellName(cell), cell })))('$name', async ({ cell }) => {
    expectAsExpected(await torture(cell, '1'));
  });
});

describe('the story', () => {
  const seed = '2';
  it.concurrent('no fault: safe, with contended hand-offs to show for it', async () => {
    const run = await torture(cellNamed('redis-single/fenced-incr/none'), seed, {
      commandTimeLimitMillis: '10s',
    });
    expectAsExpected(run);
    expect(run.verdict.verdict).toBe('valid');
    expect(run.verdict.grade).toBe('safe');
    expect(run.verdict.power.contendedHandoffs).toBeGreaterThan(20);
    expect(run.history.operations.every(({ outcome }) => outcome !== 'info')).toBe(true);
  });

  it.concurrent(
    'paused holder without a token: two believe, and the store that checks nothing is harmed',
    async () => {
      const run = await torture(cellNamed('redis-single/set-nx-px/pause-holder'), seed);
      expectAsExpected(run);
      const overlap = run.verdict.findings.find(({ code }) => code === 'belief-overlap');
      expect(overlap?.faults.length).toBeGreaterThan(0);
      const harmed = run.verdict.findings.filter(
        ({ code }) => code === 'stale-write-landed' || code === 'lost-update',
      );
      expect(harmed.length).toBeGreaterThan(0);
      expect(new Set(harmed.map(({ store }) => store))).toEqual(new Set(['none']));
      expect(run.verdict.power.faults.hitHold).toBeGreaterThan(0);
    },
  );

  it.concurrent(
    'paused holder with a token: the same overlap, the fully fenced store stays clean',
    async () => {
      const run = await torture(cellNamed('redis-single/fenced-incr/pause-holder'), seed);
      expectAsExpected(run);
      expect(run.verdict.grade).toBe('safe-with-fencing');
      expect(codes(run)).toContain('belief-overlap');
      expect(run.verdict.findings.filter(({ store }) => store === 'fence-on-read-and-write')).toEqual([]);
    },
  );

  it.concurrent(
    'work longer than the lease: overlap; with a watchdog none; with a watchdog and SIGSTOP again',
    async () => {
      const bare = await torture(cellNamed('redis-single/set-nx-px/none/long-hold'), seed);
      expectAsExpected(bare);
      expect(codes(bare)).toContain('belief-overlap');
      const renewed = await torture(cellNamed('redis-single/watchdog/none/long-hold'), seed);
      expectAsExpected(renewed);
      expect(renewed.history.operations.some(({ op, outcome }) => op === 'renew' && outcome === 'ok')).toBe(
        true,
      );
      const stopped = await torture(cellNamed('redis-single/watchdog/pause-holder/long-hold'), seed);
      expectAsExpected(stopped);
      expect(codes(stopped)).toContain('belief-overlap');
    },
  );

  it.concurrent(
    'unconditional DEL: one owner ends the tenure of another, and a third is let in',
    async () => {
      const run = await torture(cellNamed('redis-single/del-unconditional/pause-holder'), seed);
      expectAsExpected(run);
      expect(codes(run)).toContain('foreign-release');
      expect(codes(run)).toContain('double-grant');
    },
  );

  it.concurrent(
    'killed between SETNX and PEXPIRE: the lock is stuck, and that is no safety finding',
    async () => {
      const run = await torture(cellNamed('redis-single/setnx-then-expire/kill-acquirer'), seed);
      expectAsExpected(run);
      expect(run.verdict.grade).toBe('safe');
      expect(new Set(run.verdict.liveness.map(({ code }) => code))).toEqual(new Set(['stuck-lock']));
    },
  );

  it.concurrent(
    'server killed and started again: operations of unknown outcome, and no false finding',
    async () => {
      const run = await torture(cellNamed('redis-single/fenced-incr/kill-server'), seed, {
        thinkMillis: '0',
      });
      expectAsExpected(run);
      expect(run.history.operations.some(({ outcome }) => outcome === 'info')).toBe(true);
      expect(run.verdict.findings).toEqual([]);
      expect(run.verdict.liveness).toEqual([]);
    },
  );
});
