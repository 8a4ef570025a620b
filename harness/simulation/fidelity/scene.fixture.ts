// One script on two stages: the servers of a lock service in containers, and their models. The script gets nodes, a clock
// and ports, says line by line what it sees, and must not know which of the two it plays on. What differs by nature, such
// as identities and positions, it puts into words first. What the two say must be the same.

import { monotonicClock, monotonicOrigin, type Clock } from '../../clock.ts';
import { startCluster } from '../../cluster/docker/docker-cluster.ts';
import { findEngine } from '../../cluster/docker/engine.ts';
import { ensureImages } from '../../cluster/docker/images.ts';
import type { Node, NodeSpec } from '../../contract/cluster.ts';
import { millis } from '../../history/op.ts';
import { watchLateness } from '../../testing/lateness.fixture.ts';
import { startTcpProxy, type TcpProxy } from '../../testing/tcp-proxy.ts';
import type { Machine } from '../program.ts';
import { serverProgram } from '../services.ts';
import { openWorld } from '../world.ts';

export interface Address {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

/** Opens what a client stands on. */
export type Open<Port> = (servers: readonly Address[], clock: Clock) => Port;

/** A client on a machine of its own. */
export interface Client<Port> {
  /** To those servers, or to all. */
  open(names?: readonly string[]): Port;
  /** From now on nothing of it arrives, and nothing reaches it. */
  cutOff(): void;
}

export interface Scene<Port> {
  readonly nodes: readonly Node[];
  readonly clock: Clock;
  readonly node: (name: string) => Node;
  /** How late the process of the clients was at most so far. */
  readonly latenessMillis: () => number;
  /** At most `CLIENTS` of them. */
  readonly client: () => Promise<Client<Port>>;
}

export interface Service {
  readonly servers: readonly NodeSpec[];
  readonly assemble?: (nodes: readonly Node[]) => Promise<void>;
}

export type Script<Port> = (scene: Scene<Port>, say: (line: string) => void) => Promise<void>;

const CLIENTS = 6;

/** Plays it on both: what each says. Of a script in which little is said little is learned: count the lines. */
export async function playOnBoth<Port>(
  service: Service,
  opens: { readonly real: Open<Port>; readonly simulated: (machine: Machine) => Open<Port> },
  script: Script<Port>,
): Promise<{ readonly model: readonly string[]; readonly real: readonly string[] }> {
  const model = await onModels(service, opens.simulated, script);
  return { model, real: await onContainers(service, opens.real, script) };
}

async function onContainers<Port>(
  { servers, assemble }: Service,
  open: Open<Port>,
  script: Script<Port>,
): Promise<readonly string[]> {
  const engine = await findEngine();
  const images = await ensureImages(engine, { names: servers.map(({ image }) => image) });
  await using cluster = await startCluster(servers, { engine, images, readyTimeLimit: millis(60_000) });
  const nodes = servers.map(({ name }) => cluster.node(name));
  await assemble?.(nodes);
  const clock = monotonicClock(monotonicOrigin());
  using lateness = watchLateness(clock);
  const proxies: TcpProxy[] = [];
  const client = async (): Promise<Client<Port>> => {
    const own = await Promise.all(
      nodes.map(async ({ name, address, spec }) => {
        const proxy = await startTcpProxy({ host: address, port: spec.port ?? 0 });
        return { name, proxy };
      }),
    );
    proxies.push(...own.map(({ proxy }) => proxy));
    const addresses = own.map(({ name, proxy }) => ({ name, host: proxy.host, port: proxy.port }));
    return {
      open: (names) => open(chosen(addresses, names), clock),
      cutOff() {
        for (const { proxy } of own) proxy.behave({ kind: 'cut' });
      },
    };
  };
  const lines: string[] = [];
  try {
    await script(
      {
        nodes,
        clock,
        node: (name) => cluster.node(name),
        latenessMillis: () => lateness.latestMillis,
        client,
      },
      (line) => lines.push(line),
    );
  } finally {
    for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
  }
  return lines;
}

async function onModels<Port>(
  { servers, assemble }: Service,
  open: (machine: Machine) => Open<Port>,
  script: Script<Port>,
): Promise<readonly string[]> {
  const world = openWorld('fidelity');
  return await world.during(async () => {
    const machines: Machine[] = [];
    const clients = Array.from({ length: CLIENTS }, (_, index): NodeSpec => {
      return { name: `c${index + 1}`, role: 'client', image: 'client' };
    });
    const cluster = await world.start([...servers, ...clients], (spec) =>
      spec.role === 'client' ? (machine) => void machines.push(machine) : serverProgram(spec),
    );
    const nodes = servers.map(({ name }) => cluster.node(name));
    await assemble?.(nodes);
    const addresses = nodes.map(({ name, address, spec }) => ({ name, host: address, port: spec.port ?? 0 }));
    const lines: string[] = [];
    await script(
      {
        nodes,
        clock: monotonicClock(monotonicOrigin()),
        node: (name) => cluster.node(name),
        latenessMillis: () => 0,
        client: () => {
          const machine = machines.shift();
          if (machine === undefined) throw new Error(`a script of more than ${CLIENTS} clients`);
          const { spec, process } = machine;
          return Promise.resolve({
            open: (names) => open(machine)(chosen(addresses, names), process.clock(0)),
            cutOff() {
              for (const { name } of nodes)
                for (const [from, to] of [[name, spec.name] as const, [spec.name, name] as const])
                  world.network.spoil(from, to, { cut: true });
            },
          });
        },
      },
      (line) => lines.push(line),
    );
    return lines;
  });
}

function chosen(addresses: readonly Address[], names: readonly string[] | undefined): readonly Address[] {
  return names === undefined ? addresses : addresses.filter(({ name }) => names.includes(name));
}

/** Those that there are, in an order that says nothing. */
export function sorted(words: readonly (string | undefined)[]): string {
  return words
    .filter((word) => word !== undefined)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .join(' ');
}
