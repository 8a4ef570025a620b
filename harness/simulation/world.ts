// One simulated world: time, network and the nodes in it, all from one seed. While it runs, every clock of this thread
// that is made goes by its time.

import { goBy, type Timer } from '../clock.ts';
import type { NodeSpec } from '../contract/cluster.ts';
import { nanosOf } from '../history/op.ts';
import { startSimulatedCluster, type SimulatedCluster } from './cluster.ts';
import { openNetwork, type Network } from './network.ts';
import type { Program } from './program.ts';
import { openScheduler, type Scheduler } from './scheduler.ts';
import { sleepOn } from './sleep.ts';
import { EPOCH_MILLIS } from './wall-clock.ts';

export interface World {
  readonly scheduler: Scheduler;
  readonly network: Network;
  start(specs: readonly NodeSpec[], programOf: (spec: NodeSpec) => Program): Promise<SimulatedCluster>;
  /** Lets time pass until what `main` returns has settled, and settles as it does. */
  during<T>(main: () => Promise<T>): Promise<T>;
}

export function openWorld(seed: string): World {
  const scheduler = openScheduler();
  const network = openNetwork(scheduler, seed);
  const timer: Timer = (duration, action) => scheduler.timer(scheduler.now + nanosOf(duration), action);
  return {
    scheduler,
    network,
    start: (specs, programOf) => startSimulatedCluster(specs, { scheduler, network, seed, programOf }),
    during: async (main) => {
      using _time = goBy({
        monotonic: () => BigInt(scheduler.now),
        sleep: sleepOn(timer),
        wallMillis: () => EPOCH_MILLIS + scheduler.now / 1e6,
      });
      return await scheduler.run(main);
    },
  };
}
