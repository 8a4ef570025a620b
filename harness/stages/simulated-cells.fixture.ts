// Simulates catalogued cells and tells of each what its history is, as a hash. Run as a program it prints them, so that
// a test can compare what two processes made of the same plans.

import { catalogue, settingsOf } from '../plan/catalogue.ts';
import type { Cell } from '../plan/cells/cell.ts';
import { cellName } from '../plan/cell-name.ts';
import { scenarioNamed } from '../nemesis/schedule.ts';
import { parsePlan, type Plan } from '../plan/plan.ts';
import { refusal } from './on-simulation.ts';
import { simulate } from './simulated-run.ts';
import { vocabulary } from '../plan/vocabulary.ts';

/** Those that can be simulated. */
export const simulatedCells: readonly Cell[] = catalogue.filter(
  ({ backend, fault }) =>
    refusal({ backend, on: 'simulation' }, scenarioNamed(fault)?.faults ?? []) === undefined,
);

/** Half of the usual load is enough for every cell that does not say how much it needs. */
const TIME_LIMIT = '10s';

export function planOfCell(cell: Cell, seed: string): Plan {
  const { backend, variant, recipe, fault, workload } = cell;
  const names = { backend, variant, recipe, fault, workload };
  const settings = { timeLimitMillis: TIME_LIMIT, ...settingsOf(names) };
  return parsePlan(vocabulary, names, settings, { seed, on: 'simulation' });
}

/** A line a cell: `name hash`. */
if (import.meta.main)
  for (const cell of simulatedCells)
    process.stdout.write(
      `${cellName(cell)} ${(await simulate(planOfCell(cell, process.argv[2] ?? '1'))).hash}\n`,
    );
