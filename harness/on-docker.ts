// Puts a run together for real containers: engine, images, client program, backend, store and faults become the
// `RunParts` of `run.ts`. Nothing is started here but what a whole command shares: the engine is found, what dead
// sessions left is removed, missing images are built.

import manifest from '../package.json' with { type: 'json' };
import { cpus, release, totalmem, version } from 'node:os';
import { recipeOf } from './adapters.ts';
import { backends } from './backends/index.ts';
import { linkFaultsFor } from './bad-links.ts';
import { bundleClient } from './client/bundle.ts';
import { wallTime } from './clock.ts';
import { startCluster } from './cluster/docker/docker-cluster.ts';
import { describeEngine, findEngine, type Engine } from './cluster/docker/engine.ts';
import { ensureImages } from './cluster/docker/images.ts';
import { sweepDeadSessions } from './cluster/docker/session.ts';
import { slackMillisOf, type Backend } from './contract/backend.ts';
import { equipmentFor, equipmentImages } from './equipment.ts';
import { HarnessError, messageOf } from './contract/errors.ts';
import type { Node, NodeSpec } from './contract/cluster.ts';
import { DEFAULT_CLOCK_TOLERANCE } from './history/grants.ts';
import { HISTORY_FORMAT, HISTORY_VERSION } from './history/op.ts';
import { clockFaults } from './nemesis/faults/clock.ts';
import { cpuStarveFault } from './nemesis/faults/cpu-starve.ts';
import { diskFullFault } from './nemesis/faults/disk-full.ts';
import { failoverFault } from './nemesis/faults/failover.ts';
import { killFault } from './nemesis/faults/kill.ts';
import { whereApplicable } from './nemesis/faults/not-applicable.ts';
import { partitionFaults } from './nemesis/faults/partition.ts';
import { pauseFault } from './nemesis/faults/pause.ts';
import { restartEmptyFault } from './nemesis/faults/restart-empty.ts';
import { onEach } from './nemesis/faults/scope.ts';
import { slowFsyncFault } from './nemesis/faults/slow-fsync.ts';
import { stallFault } from './nemesis/faults/stall.ts';
import { plannedFaults, scenarioNamed, scheduleOf } from './nemesis/schedule.ts';
import type { ServiceTraits } from './nemesis/timing.ts';
import type { Plan } from './plan.ts';
import { defencesInUse } from './defences-in-use.ts';
import { prepareStore, storeNode } from './postgres-store/node.ts';
import { workloads } from '../workloads/index.ts';
import type { RunParts } from './run.ts';
import type { Surroundings } from './stored-run.ts';

/** Servers count leases in whole milliseconds: one may run this much shorter, which matters for a short one. */
const CLOCK_GRAIN_MILLIS = 2;

export interface DockerStage {
  /** The parts of one run. Throws HarnessError if an image is missing and cannot be had. */
  partsFor(plan: Plan): Promise<{ readonly parts: RunParts; readonly surroundings: Surroundings }>;
}

/** What stays of a dead session takes room on the engine; that is no reason not to run. */
async function sweep(engine: Engine, say: (line: string) => void): Promise<void> {
  try {
    const swept = await sweepDeadSessions(engine);
    if (swept.length > 0) say(`removed what ${swept.length} dead session(s) had left behind`);
  } catch (error) {
    say(`something of a dead session stays behind: ${messageOf(error)}`);
  }
}

/** Finds the engine and clears what dead sessions left. `say` gets a line whenever something takes a while. */
export async function onDocker(say: (line: string) => void): Promise<DockerStage> {
  const engine = await findEngine();
  await sweep(engine, say);
  const engineVersion = await describeEngine(engine);

  return {
    partsFor: async (plan) => {
      const backend = backends.find(({ name }) => name === plan.backend);
      const recipe = await recipeOf(plan);
      const scenario = scenarioNamed(plan.fault);
      if (backend === undefined || recipe === undefined || scenario === undefined)
        throw new HarnessError(
          'internal',
          `a parsed plan names what does not exist: ${JSON.stringify(plan)}`,
        );
      const servers = backend.servers(plan);
      const store = storeNode();
      const schedule = scheduleOf(
        scenario,
        { ...plan, service: traitsOf(backend, servers.length) },
        plan.seed,
      );
      const faults = plannedFaults(scenario, schedule);
      const images = await ensureImages(engine, {
        names: [
          ...new Set([...servers, store].map(({ image }) => image)),
          'client',
          ...equipmentImages(faults),
        ],
        overrides: plan.images,
        say,
      });
      const program = await bundleClient(plan.adapter);
      const equip = await equipmentFor(faults, { engine, images });
      const badLinks = await linkFaultsFor(faults, { engine, images });
      const clientSpec = (name: string): NodeSpec => ({
        name,
        role: 'client',
        image: 'client',
        files: program,
        stream: true,
      });
      const workload = workloads.find(({ name }) => name === plan.workload);
      if (workload === undefined)
        throw new HarnessError('internal', `a parsed plan names no workload: ${plan.workload}`);
      return {
        surroundings: {
          started: wallTime().toISOString(),
          versions: { lockpick: manifest.version, node: process.version },
          images,
          host: {
            cpus: cpus().length,
            memoryBytes: totalmem(),
            kernel: `${release()} ${version()}`,
            engine: engineVersion,
          },
        },
        parts: {
          backend,
          schedule,
          faultKinds: ({ servers: nodes, clients, store: storeServer, restartClient, readClientTime }) => {
            const { roles } = backend;
            const restart =
              roles?.rejoin === undefined
                ? {}
                : { rejoin: async (node: Node): Promise<void> => roles.rejoin?.(node, nodes) };
            const ofNodes = [
              pauseFault(),
              killFault({ restartClient, ...restart }),
              restartEmptyFault(restart),
              failoverFault(nodes, roles),
              ...clockFaults({
                readTime: async (node) =>
                  node.spec.role === 'client' ? readClientTime(node) : backend.readTime?.(node),
              }),
              stallFault(),
              cpuStarveFault(),
              diskFullFault(restart),
              slowFsyncFault(),
            ].map((kind) => whereApplicable(onEach(kind), backend.notApplicable ?? {}));
            const network = { servers: nodes, clients, store: storeServer };
            return [...ofNodes, ...partitionFaults(network), ...badLinks(network)];
          },
          store,
          prepareStore,
          defences: defencesInUse(plan, recipe, workload),
          clientSpec,
          startCluster: (specs, signal) => startCluster(specs.map(equip), { engine, images, signal }),
          header: ({ clockErrorNanos, serverVersions }) => ({
            format: HISTORY_FORMAT,
            version: HISTORY_VERSION,
            clock: clockErrorNanos === 0 ? 'shared' : 'measured',
            clockErrorNanos,
            meta: {
              backend: plan.backend,
              variant: plan.variant,
              serverVersions,
              recipe: plan.recipe,
              workload: plan.workload,
              fault: plan.fault,
              seed: plan.seed,
              ttlMillis: plan.ttlMillis,
              clockTolerance: Math.max(DEFAULT_CLOCK_TOLERANCE, CLOCK_GRAIN_MILLIS / plan.ttlMillis),
              tokens: recipe.tokenSource !== undefined,
              ownerChecked: recipe.ownerChecked,
              deadlineAware: false,
              slackMillis: slackMillisOf(backend, plan),
              ...(recipe.register !== undefined && {
                stores: { [recipe.register.name]: recipe.register.judgedAs },
              }),
              ...(backend.clockTolerance !== undefined && { clockTolerance: backend.clockTolerance }),
              keptAlive:
                recipe.keepsAlive === true || recipe.renewAt !== undefined || recipe.sessionBound === true,
              closedByDown: true,
              minContendedHandoffs: plan.minContendedHandoffs,
              ...(workload.stock !== undefined && { stock: workload.stock }),
              ...(recipe.fifo === true && { fifo: true }),
              plannedFaults: faults,
              schedule,
            },
          }),
        },
      };
    },
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
