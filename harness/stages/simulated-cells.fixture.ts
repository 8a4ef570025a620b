// Simulates catalogued cells and tells of each what its history is, as a hash. Run as a program it prints them, so that
// a test can compare what two processes made of the same plans.

import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catalogue, settingsOf } from '../plan/catalogue.ts';
import type { Cell } from '../plan/cells/cell.ts';
import { cellName } from '../plan/cell-name.ts';
import { runPlan } from '../commands/run-plan.ts';
import { scenarioNamed } from '../nemesis/schedule.ts';
import { onSimulation, refusal } from './on-simulation.ts';
import { parsePlan } from '../plan/plan.ts';
import type { StoredRun } from '../stored/stored-run.ts';
import { vocabulary } from '../plan/vocabulary.ts';

const never = new AbortController().signal;

/** Those that can be simulated. */
export const simulatedCells: readonly Cell[] = catalogue.filter(
  ({ backend, recipe, fault }) =>
    refusal({ backend, recipe, on: 'simulation' }, scenarioNamed(fault)?.faults ?? []) === undefined,
);

export interface Simulated {
  readonly run: StoredRun;
  /** Of history.jsonl. */
  readonly hash: string;
}

export async function simulate(cell: Cell, seed: string): Promise<Simulated> {
  const { backend, variant, recipe, fault, workload } = cell;
  const names = { backend, variant, recipe, fault, workload };
  const plan = parsePlan(vocabulary, names, settingsOf(names), { seed, on: 'simulation' });
  const out = mkdtempSync(join(tmpdir(), 'lockpick-simulation-'));
  try {
    const run = await runPlan(onSimulation(), plan, {
      out,
      observer: { phase: () => undefined, event: () => undefined },
      interrupt: { wrapUp: never, abandon: never },
      reports: new Set(),
    });
    const hash = createHash('sha256').update(readFileSync(run.directory.history)).digest('hex');
    return { run, hash };
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** A line a cell: `name hash`. */
if (import.meta.main)
  for (const cell of simulatedCells)
    process.stdout.write(`${cellName(cell)} ${(await simulate(cell, process.argv[2] ?? '1')).hash}\n`);
