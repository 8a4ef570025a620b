// A right recipe under `swarm`: its plan for one seed, and what theory promises that its run never shows. For a test of few
// seeds and the bench of many.

import { breaksPromise } from '../../checkers/promises.ts';
import type { SafetyFinding } from '../../checkers/verdict.ts';
import { backends } from '../backends/index.ts';
import type { History } from '../history/history.ts';
import { scenarioNamed } from '../nemesis/schedule.ts';
import { catalogue, settingsOf } from '../plan/catalogue.ts';
import type { Cell } from '../plan/cells/cell.ts';
import { parsePlan, type Plan } from '../plan/plan.ts';
import { vocabulary } from '../plan/vocabulary.ts';
import { refusal } from '../stages/on-simulation.ts';
import type { SimulatedRun } from '../stages/simulated-run.ts';

/** What takes from a server what it had promised: its disk, or the time by which it keeps leases. */
const LOSE_PROMISES = ['restart-empty', 'clock-jump', 'clock-drift', 'clock-strobe'];
/** A majority has it on its disks, and leases are kept by clocks that nobody sets. */
const AGREED: ReadonlySet<string> = new Set(['etcd', 'zookeeper']);
/** One server, or each of several: nothing is lost while it keeps disk and time. */
const ON_DISK: ReadonlySet<string> = new Set(['redis-single', 'redlock', 'postgres']);

/** Whether theory says that this recipe never shows it. */
function isPromised(backend: string, finding: SafetyFinding, history: History): boolean {
  const { code } = finding;
  if (code === 'foreign-release') return true;
  if (code === 'double-grant' || code === 'token-regression' || breaksPromise(finding, history.header.meta)) {
    if (AGREED.has(backend)) return true;
    if (!ON_DISK.has(backend)) return false;
    const clients = new Set(history.operations.map(({ process }) => process.split('.')[0]));
    return !history.faults.some(
      ({ fault, targets }) => LOSE_PROMISES.includes(fault) && targets.some((target) => !clients.has(target)),
    );
  }
  return false;
}

/** Of each recipe that is right and can be simulated the cell whose workload and settings it runs with. */
export const rightCells: readonly Cell[] = backends.flatMap(({ name: backend, recipes }) =>
  recipes.flatMap(({ name: recipe, flaw }) => {
    const faults = scenarioNamed('swarm')?.faults ?? [];
    const cell = catalogue.find((each) => each.backend === backend && each.recipe === recipe);
    const isRight = flaw === undefined && refusal({ backend, on: 'simulation' }, faults) === undefined;
    return cell !== undefined && isRight ? [cell] : [];
  }),
);

export function swarmPlan(cell: Cell, seed: string, timeLimitMillis: string): Plan {
  const { backend, recipe, workload } = cell;
  const names = { backend, recipe, workload, fault: 'swarm' };
  return parsePlan(vocabulary, settingsOf(cell), names, { seed, on: 'simulation', timeLimitMillis });
}

export function brokenPromises(
  { backend }: Cell,
  { verdict, history }: SimulatedRun,
): readonly SafetyFinding[] {
  return verdict.findings.filter((finding) => isPromised(backend, finding, history));
}
