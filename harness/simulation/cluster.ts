// Simulated nodes as one cluster: gives them names, addresses, clocks and disks, starts their programs, and waits until
// every one is ready. What a node runs is decided by whoever hands in `programOf`.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster, NodeSpec } from '../contract/cluster.ts';
import { HarnessError } from '../contract/errors.ts';
import { millis } from '../history/op.ts';
import { randomStream } from '../rng.ts';
import { openDisk } from './disk.ts';
import type { Network } from './network.ts';
import { openNode, type SimulatedNode, type Site } from './node.ts';
import type { Program } from './program.ts';
import type { Scheduler } from './scheduler.ts';
import { openWallClock } from './wall-clock.ts';

const READY_TIME_LIMIT = millis(30_000);

export interface SimulatedCluster extends Cluster {
  readonly nodes: ReadonlyMap<string, SimulatedNode>;
  node(name: string): SimulatedNode;
}

export async function startSimulatedCluster(
  specs: readonly NodeSpec[],
  {
    scheduler,
    network,
    seed,
    programOf,
  }: {
    readonly scheduler: Scheduler;
    readonly network: Network;
    readonly seed: string;
    readonly programOf: (spec: NodeSpec) => Program;
  },
): Promise<SimulatedCluster> {
  const addresses = new Map(specs.map(({ name }, index) => [name, `10.77.0.${index + 2}`]));
  const names = new Map([...addresses].map(([name, address]) => [address, name]));
  let pids = 0;
  const site: Site = {
    scheduler,
    network,
    random: (name) => randomStream(seed, name),
    nodeAt: (address) => names.get(address),
    addressOf: (name) => addresses.get(name) ?? name,
    nextPid: () => (pids += 1),
  };
  const nodes = new Map(
    specs.map((spec) => {
      const parts = { wall: openWallClock(), disk: openDisk(), program: programOf(spec) };
      return [spec.name, openNode({ spec, address: site.addressOf(spec.name), ...parts }, site)];
    }),
  );
  await Promise.all(
    [...nodes.values()].map(async (node) => {
      await node.start();
      await node.ready(READY_TIME_LIMIT);
    }),
  );
  return {
    session: 'simulation',
    nodes,
    images: {},
    node(name) {
      const node = nodes.get(name);
      if (node === undefined) throw new HarnessError('internal', `the cluster has no node ${name}`);
      return node;
    },
    async collectLogs(directory) {
      mkdirSync(directory, { recursive: true });
      for (const node of nodes.values())
        writeFileSync(join(directory, `${node.name}.log`), await node.logs());
    },
    [Symbol.asyncDispose]: async () => {},
  };
}
