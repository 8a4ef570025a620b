// How long it takes from the event that triggers a fault until the fault is in force: `node bench/fault-latency.ts [times]`.
// The nemesis itself carries out a rule `when granted` against the process that was granted, on real nodes: five Redis
// servers, a store and a client without load. In force: the process was seen to be stopped, or dead, or the firewall
// had taken the last rule. Prints the milliseconds. Needs an engine of this machine, with images built: a death is seen
// in /proc, because the engine speaks of it only when it has cleaned up.

import { readFileSync } from 'node:fs';
import { backends } from '../harness/backends/index.ts';
import { monotonicClock, monotonicOrigin } from '../harness/clock.ts';
import { startCluster } from '../harness/cluster/docker/docker-cluster.ts';
import { findEngine } from '../harness/cluster/docker/engine.ts';
import { ensureImages } from '../harness/cluster/docker/images.ts';
import { parseStat } from '../harness/cluster/docker/process-state.ts';
import { DEFAULT_VARIANT } from '../harness/contract/backend.ts';
import type { NodeSpec } from '../harness/contract/cluster.ts';
import type { FaultSpec } from '../harness/contract/fault.ts';
import { millis, type FaultEvent, type HistoryEvent } from '../harness/history/op.ts';
import { killFault } from '../harness/nemesis/faults/kill.ts';
import { partitionFaults } from '../harness/nemesis/faults/partition.ts';
import { pauseFault } from '../harness/nemesis/faults/pause.ts';
import { onEach } from '../harness/nemesis/faults/scope.ts';
import { Nemesis } from '../harness/nemesis/nemesis.ts';
import { storeNode } from '../harness/postgres-store/node.ts';

const times = Number(process.argv[2] ?? '15');
const SPECS: readonly { readonly name: string; readonly spec: FaultSpec; readonly inForce: string }[] = [
  { name: 'pause', inForce: 'provedMillis', spec: specOf('pause', {}) },
  { name: 'pause (freezer)', inForce: 'provedMillis', spec: specOf('pause', { freezer: true }) },
  { name: 'kill', inForce: 'death', spec: specOf('kill', {}) },
  {
    name: 'partition from five servers',
    inForce: 'cutMillis',
    spec: specOf('partition', { from: 'servers' }),
  },
  { name: 'reply-lost', inForce: 'cutMillis', spec: specOf('reply-lost', {}) },
];

function specOf(fault: string, params: NonNullable<FaultSpec['params']>): FaultSpec {
  return { fault, target: { kind: 'holder' }, durationMillis: millis(0), params };
}

const idle: NodeSpec = {
  name: 'c1',
  role: 'client',
  image: 'client',
  stream: true,
  command: ['node', '-e', 'process.stdin.resume()'],
};
const engine = await findEngine();
const servers = backends
  .find(({ name }) => name === 'redlock')
  ?.servers({
    variant: DEFAULT_VARIANT,
    ttlMillis: millis(1_000),
  });
if (servers === undefined) throw new Error('there is no backend redlock');
const specs = [...servers, storeNode(), idle];
const images = await ensureImages(engine, { names: specs.map(({ image }) => image) });
await using cluster = await startCluster(specs, { engine, images });
const network = {
  servers: servers.map(({ name }) => cluster.node(name)),
  clients: [cluster.node('c1')],
  store: cluster.node('store'),
};
const kinds = [...[pauseFault(), killFault()].map(onEach), ...partitionFaults(network)];
const clock = monotonicClock(monotonicOrigin());

function isAlive(pid: number): boolean {
  try {
    const stat = parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
    return stat !== undefined && !'ZX'.includes(stat.state);
  } catch {
    return false;
  }
}

/** Milliseconds; undefined: it was not proved to act. */
async function once(spec: FaultSpec, inForce: string): Promise<number | undefined> {
  const events: FaultEvent[] = [];
  let died: number | undefined;
  await using nemesis = new Nemesis({
    schedule: {
      steps: [
        {
          kind: 'when',
          event: 'granted',
          afterMillis: millis(0),
          delayMillis: { min: millis(0), max: millis(0) },
          limit: 1,
          cooldownMillis: millis(0),
          spec,
        },
      ],
      seed: '1',
    },
    kinds: new Map(kinds.map((kind) => [kind.name, kind])),
    clock,
    servers: network.servers,
    clients: network.clients,
    nodeOf: () => cluster.node('c1'),
    append: (event) => {
      if (event.type === 'fault') events.push(event);
    },
  });
  nemesis.start();
  const state = await cluster.node('c1').state();
  const granted = { id: 1, process: 'c1', op: 'acquire' } as const;
  nemesis.observe({ ...granted, type: 'invoke', time: clock.now(), lock: 'k1' } satisfies HistoryEvent);
  const trigger = clock.now();
  nemesis.observe({ ...granted, type: 'ok', time: trigger } satisfies HistoryEvent);
  if (inForce === 'death' && state.kind === 'running') {
    while (isAlive(state.pid)) await clock.sleep(millis(1));
    died = clock.now();
  }
  while (!events.some(({ phase }) => phase === 'end') && !nemesis.failed.aborted)
    await clock.sleep(millis(5));
  await nemesis.heal();
  if (died !== undefined) return (died - trigger) / 1e6;
  const begun = events.find(({ phase }) => phase === 'begin');
  const took = events.find(({ phase }) => phase === 'acted')?.evidence?.[inForce];
  return begun === undefined || typeof took !== 'number' ? undefined : (begun.time - trigger) / 1e6 + took;
}

const rows: Record<string, string | number>[] = [];
for (const { name, spec, inForce } of SPECS) {
  const took: number[] = [];
  for (let time = 0; time < times; time++) {
    const tookMillis = await once(spec, inForce);
    if (tookMillis !== undefined) took.push(tookMillis);
  }
  took.sort((a, b) => a - b);
  const at = (part: number): number => Math.round(took[Math.floor((took.length - 1) * part)] ?? -1);
  rows.push({
    fault: name,
    times,
    proved: took.length,
    min: at(0),
    median: at(0.5),
    p90: at(0.9),
    max: at(1),
  });
}
console.table(rows);
