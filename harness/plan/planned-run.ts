// What a plan means, wherever it runs: its backend, recipe and workload by name, the schedule that its fault and seed
// give, the header of its history, and the faults that act on nodes by what any cluster can do.

import { recipeOf } from '../settings/adapters.ts';
import { backends } from '../backends/index.ts';
import { slackMillisOf, type Backend } from '../contract/backend.ts';
import type { Node } from '../contract/cluster.ts';
import { HarnessError } from '../contract/errors.ts';
import type { NodeFaultKind, Schedule } from '../contract/fault.ts';
import { defencesInUse } from './defences-in-use.ts';
import { DEFAULT_CLOCK_TOLERANCE } from '../history/grant-ends.ts';
import { HISTORY_FORMAT, HISTORY_VERSION, type Header } from '../history/op.ts';
import { clockFaults, type ClockFaultOptions } from '../nemesis/faults/clock.ts';
import { failoverFault } from '../nemesis/faults/failover.ts';
import { killFault } from '../nemesis/faults/kill.ts';
import { pauseFault } from '../nemesis/faults/pause.ts';
import type { RestartOptions } from '../nemesis/faults/restart.ts';
import { restartEmptyFault } from '../nemesis/faults/restart-empty.ts';
import { stallFault } from '../nemesis/faults/stall.ts';
import { plannedFaults, scenarioNamed, scheduleOf } from '../nemesis/schedule.ts';
import type { ServiceTraits } from '../nemesis/timing.ts';
import type { Plan } from './plan.ts';
import type { FaultSite, Seen } from '../run.ts';
import { checkFit, checkPermits } from './workload-fit.ts';
import { workloads } from '../../workloads/index.ts';

/** Servers count leases in whole milliseconds: one may run this much shorter, which matters for a short one. */
const CLOCK_GRAIN_MILLIS = 2;

export interface PlannedRun {
  readonly backend: Backend;
  readonly schedule: Schedule;
  /** Kinds of faults that it may use. */
  readonly faults: readonly string[];
  readonly defences: readonly string[];
  readonly header: (seen: Seen) => Header;
}

export async function plannedRun(plan: Plan): Promise<PlannedRun> {
  const backend = backends.find(({ name }) => name === plan.backend);
  const recipe = await recipeOf(plan);
  const scenario = scenarioNamed(plan.fault);
  const workload = workloads.find(({ name }) => name === plan.workload);
  if (backend === undefined || recipe === undefined || scenario === undefined || workload === undefined)
    throw new HarnessError('internal', `a parsed plan names what does not exist: ${JSON.stringify(plan)}`);
  checkFit(recipe, workload, workloads);
  checkPermits(recipe, plan);
  const service = traitsOf(backend, backend.servers(plan).length);
  const schedule = scheduleOf(scenario, { ...plan, service }, plan.seed);
  const faults = plannedFaults(scenario, schedule);
  return {
    backend,
    schedule,
    faults,
    defences: defencesInUse(plan, recipe, workload),
    header: ({ clockErrorNanos, zeroWallTime, serverVersions }) => ({
      format: HISTORY_FORMAT,
      version: HISTORY_VERSION,
      clock: clockErrorNanos === 0 ? 'shared' : 'measured',
      clockErrorNanos,
      meta: {
        backend: plan.backend,
        variant: plan.variant,
        serverVersions,
        zeroWallTime,
        recipe: plan.recipe,
        workload: plan.workload,
        fault: plan.fault,
        seed: plan.seed,
        ttlMillis: plan.ttlMillis,
        clockTolerance: Math.max(
          backend.clockTolerance ?? DEFAULT_CLOCK_TOLERANCE,
          CLOCK_GRAIN_MILLIS / plan.ttlMillis,
        ),
        tokens: recipe.tokenSource !== undefined,
        ownerChecked: recipe.ownerChecked,
        deadlineAware: false,
        slackMillis: slackMillisOf(backend, plan),
        ...(recipe.register !== undefined && {
          stores: { [recipe.register.name]: recipe.register.judgedAs },
        }),
        keptAlive: recipe.keepsAlive === true || recipe.renewAt !== undefined || recipe.sessionBound === true,
        closedByDown: true,
        minContendedHandoffs: plan.minContendedHandoffs,
        ...(workload.stock !== undefined && { stock: workload.stock }),
        ...(recipe.fifo === true && { fifo: true }),
        ...(recipe.kind !== undefined && { kind: recipe.kind }),
        ...(recipe.permits !== undefined && { permits: plan.permits ?? recipe.permits }),
        plannedFaults: faults,
        schedule,
      },
    }),
  };
}

function traitsOf({ roles, startsEmpty, notApplicable }: Backend, servers: number): ServiceTraits {
  return {
    servers,
    leads: roles !== undefined,
    promotes: roles?.promote !== undefined,
    startsEmpty: startsEmpty === true,
    notApplicable: Object.keys(notApplicable ?? {}),
  };
}

/** How a server of this backend comes back. */
export function restartOptionsOf({ roles }: Backend, servers: readonly Node[]): RestartOptions {
  return roles?.rejoin === undefined
    ? {}
    : { rejoin: async (node: Node): Promise<void> => roles.rejoin?.(node, servers) };
}

/** Faults of processes and their clocks. */
export function processFaults(
  backend: Backend,
  { servers, restartClient, readClientTime }: FaultSite,
  { restart, setClock }: { readonly restart: RestartOptions; readonly setClock?: ClockFaultOptions['set'] },
): readonly NodeFaultKind[] {
  return [
    pauseFault(),
    killFault({ restartClient, ...restart }),
    restartEmptyFault(restart),
    failoverFault(servers, backend.roles),
    ...clockFaults({
      readTime: async (node) =>
        node.spec.role === 'client' ? readClientTime(node) : backend.readTime?.(node),
      ...(setClock !== undefined && { set: setClock }),
    }),
    stallFault(),
  ];
}
