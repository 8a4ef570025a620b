// Puts a run together for real containers: engine, images, client program, backend, store and faults become the
// `RunParts` of `run.ts`. Nothing is started here but what a whole command shares: the engine is found, what dead
// sessions left is removed, missing images are built.

import { linkFaultsFor } from './bad-links.ts';
import { bundleClient } from '../client/bundle.ts';
import { startCluster } from '../cluster/docker/docker-cluster.ts';
import { describeEngine, findEngine, type Engine } from '../cluster/docker/engine.ts';
import { ensureImages } from '../cluster/docker/images.ts';
import { sweepDeadSessions } from '../cluster/docker/session.ts';
import type { NodeSpec } from '../contract/cluster.ts';
import { messageOf } from '../contract/errors.ts';
import { equipmentFor, equipmentImages } from './equipment.ts';
import { cpuStarveFault } from '../nemesis/faults/cpu-starve.ts';
import { diskFullFault } from '../nemesis/faults/disk-full.ts';
import { whereApplicable } from '../nemesis/faults/not-applicable.ts';
import { partitionFaults } from '../nemesis/faults/partition.ts';
import { onEach } from '../nemesis/faults/scope.ts';
import { slowFsyncFault } from '../nemesis/faults/slow-fsync.ts';
import { plannedRun, processFaults, restartOptionsOf } from '../plan/planned-run.ts';
import { prepareStore, storeNode } from '../postgres-store/node.ts';
import { watchHarness } from '../processes/self-watch.ts';
import { containersRefuse } from './only-simulated.ts';
import { surroundingsOf, type Stage } from './stage.ts';

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
export async function onDocker(say: (line: string) => void): Promise<Stage> {
  const engine = await findEngine();
  await sweep(engine, say);
  const engineVersion = await describeEngine(engine);

  return {
    partsFor: async (plan) => {
      const planned = await plannedRun(plan);
      const { backend, faults } = planned;
      const refused = containersRefuse(faults);
      if (refused !== undefined) throw refused;
      const servers = backend.servers(plan);
      const store = storeNode();
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
      return {
        surroundings: surroundingsOf(engineVersion, images),
        during: (main) => main(),
        parts: {
          backend,
          schedule: planned.schedule,
          faultKinds: (site) => {
            const restart = restartOptionsOf(backend, site.servers);
            const ofNodes = [
              ...processFaults(backend, site, { restart }),
              cpuStarveFault(),
              diskFullFault(restart),
              slowFsyncFault(),
            ].map((kind) => whereApplicable(onEach(kind), backend.notApplicable ?? {}));
            return [...ofNodes, ...partitionFaults(site), ...badLinks(site)];
          },
          store,
          prepareStore,
          defences: planned.defences,
          clientSpec,
          startCluster: (specs, signal) => startCluster(specs.map(equip), { engine, images, signal }),
          header: planned.header,
          watch: watchHarness,
        },
      };
    },
  };
}
