// Puts a run together in a simulated world: the same backend, recipes, workload, schedule and checkers, on simulated
// servers, network and time. One thread, no engine, and the same plan gives the same history to the byte (I6).

import type { Node } from '../contract/cluster.ts';
import { HarnessError } from '../contract/errors.ts';
import { cpuStarveFault } from '../nemesis/faults/cpu-starve.ts';
import { powerLossFault } from '../nemesis/faults/kill.ts';
import { whereApplicable } from '../nemesis/faults/not-applicable.ts';
import { onEach } from '../nemesis/faults/scope.ts';
import type { Plan } from '../plan/plan.ts';
import { plannedRun, processFaults, restartOptionsOf } from '../plan/planned-run.ts';
import { storeNode } from '../postgres-store/node.ts';
import { clientOf } from '../simulation/client.ts';
import {
  setWrong,
  simulatedCuts,
  simulatedLinks,
  simulatedSlowFsync,
  walledOff,
} from '../simulation/faults.ts';
import type { SimulatedCluster } from '../simulation/cluster.ts';
import type { SimulatedNode } from '../simulation/node.ts';
import { recipesOf, serverProgram, SIMULATED_BACKENDS } from '../simulation/services.ts';
import { openWorld } from '../simulation/world.ts';
import { surroundingsOf, type Stage } from './stage.ts';

/** What cannot be simulated is an error, and nothing is left out in silence. */
export function onSimulation(): Stage {
  return {
    partsFor: async (plan) => {
      const planned = await plannedRun(plan);
      const { backend, faults } = planned;
      const refused = refusal(plan, faults);
      if (refused !== undefined) throw refused;
      const recipes = recipesOf(plan.backend);
      const world = openWorld(plan.seed);
      const { network, scheduler } = world;
      let cluster: SimulatedCluster | undefined;
      const simulated = ({ name }: Node): SimulatedNode => {
        if (cluster === undefined) throw new HarnessError('internal', 'a fault before the cluster');
        return cluster.node(name);
      };
      return {
        surroundings: surroundingsOf('simulation', {}),
        during: (main) => world.during(main),
        parts: {
          backend,
          schedule: planned.schedule,
          faultKinds: (site) => {
            const names = [...site.servers, ...site.clients, site.store].map(({ name }) => name);
            const restart = {
              ...restartOptionsOf(backend, site.servers),
              wallOff: async (node: Node) => walledOff(network, node.name, names),
            };
            const setClock = async (node: Node, settings: readonly number[]) =>
              setWrong(simulated(node), scheduler.now, settings);
            const ofNodes = [
              ...processFaults(backend, site, { restart, setClock }),
              cpuStarveFault(),
              powerLossFault(async (node) => ({ lostKeys: await simulated(node).losePower() }), {
                restartClient: site.restartClient,
                ...restart,
              }),
              simulatedSlowFsync((node) => simulated(node).disk, scheduler),
            ].map((kind) => whereApplicable(onEach(kind), backend.notApplicable ?? {}));
            return [
              ...ofNodes,
              ...simulatedCuts(site, network, scheduler),
              ...simulatedLinks(site, network, scheduler),
            ];
          },
          store: storeNode(),
          prepareStore: async () => {},
          defences: planned.defences,
          clientSpec: (name) => ({ name, role: 'client', image: 'client', stream: true }),
          startCluster: async (specs) => {
            cluster = await world.start(specs, (spec) =>
              spec.role === 'client' ? clientOf(recipes) : serverProgram(spec),
            );
            return cluster;
          },
          header: planned.header,
          // There is no machine that could stall.
          watch: () => ({ [Symbol.dispose]: () => undefined }),
        },
      };
    },
  };
}

/** Why a plan that may have those kinds of faults cannot be simulated; undefined: it can. */
export function refusal(
  { adapter, backend, on }: Pick<Plan, 'adapter' | 'backend' | 'on'>,
  faults: readonly string[],
): HarnessError | undefined {
  const inContainers = on === undefined ? 'run it in containers' : 'without --on it runs in containers';
  if (adapter !== undefined)
    return unsimulated(
      `the recipe of ${adapter} opens real connections and cannot be simulated`,
      inContainers,
    );
  if (!SIMULATED_BACKENDS.includes(backend))
    return unsimulated(
      `the servers of ${backend} are not simulated`,
      `${inContainers}; simulated are ${SIMULATED_BACKENDS.join(', ')}`,
    );
  const missing = faults.find((fault) => NOT_SIMULATED.includes(fault));
  return missing === undefined
    ? undefined
    : unsimulated(`the fault ${missing} is not simulated`, inContainers);
}

function unsimulated(what: string, remedy: string): HarnessError {
  return new HarnessError('usage', what, { remedy });
}

/** Kinds of faults that only containers have. */
const NOT_SIMULATED: readonly string[] = ['disk-full'];
