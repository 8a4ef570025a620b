// The real servers of a lock service for tests and measurements, and clients of it that can be cut off one by one: each
// reaches every server through a proxy of its own.

import { monotonicClock, monotonicOrigin, type Clock } from '../clock.ts';
import { startCluster } from '../cluster/docker/docker-cluster.ts';
import { findEngine } from '../cluster/docker/engine.ts';
import { ensureImages } from '../cluster/docker/images.ts';
import type { Backend, ServerOptions } from '../contract/backend.ts';
import type { Cluster, Node } from '../contract/cluster.ts';
import type { LockClient, Recipe } from '../contract/lock-client.ts';
import { millis, type Millis, type Nanos } from '../history/op.ts';
import { startTcpProxy, type Behaviour, type TcpProxy } from './tcp-proxy.ts';

/** A client of the service. */
export interface ContractClient {
  readonly locks: LockClient;
  /** Of every grant that its library said was lost: the owner and when. */
  readonly losses: ReadonlyMap<string, Nanos>;
  /** Absent: it shares the network with all others. */
  readonly network?: ClientNetwork;
}

export interface ClientNetwork {
  /** From now on nothing passes between the client and any server, and nobody says so. */
  cut(): void;
  /** Requests arrive, replies do not. */
  deafen(): void;
  heal(): void;
}

export interface Stage extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly nodes: readonly Node[];
  readonly clock: Clock;
  /** A client of its own process, behind proxies of its own; the time limit of its commands if it is not the stage's. */
  connect(
    recipe: Recipe,
    commandTimeLimit?: Millis,
  ): Promise<StageClient & { readonly network: ClientNetwork }>;
  /** One without proxies: where servers tell clients each other's addresses, those would lead past them. */
  connectDirectly(recipe: Recipe, commandTimeLimit?: Millis): Promise<StageClient>;
}

interface StageClient extends ContractClient, AsyncDisposable {
  readonly proxies: readonly TcpProxy[];
}

export async function startStage(
  backend: Backend,
  options: ServerOptions & { readonly commandTimeLimit: Millis },
): Promise<Stage> {
  const engine = await findEngine();
  const specs = backend.servers(options);
  const images = await ensureImages(engine, { names: specs.map(({ image }) => image) });
  const clock = monotonicClock(monotonicOrigin());
  const cluster = await startCluster(specs, { engine, images, readyTimeLimit: millis(60_000) });
  const nodes = specs.map(({ name }) => cluster.node(name));
  await backend.assemble?.(nodes);
  let clients = 0;

  const open = async (
    recipe: Recipe,
    proxies: readonly TcpProxy[],
    commandTimeLimit = options.commandTimeLimit,
  ): Promise<StageClient> => {
    clients += 1;
    const losses = new Map<string, Nanos>();
    await recipe.load?.();
    const locks = recipe.open({
      process: `c${clients}`,
      servers: nodes.map(({ name, address, spec }, index) => {
        const { host, port } = proxies[index] ?? { host: address, port: spec.port ?? 0 };
        return { name, host, port };
      }),
      commandTimeLimit,
      now: () => clock.now(),
      onLost: ({ owner }) => losses.set(owner, clock.now()),
    });
    return {
      locks,
      losses,
      proxies,
      [Symbol.asyncDispose]: async () => {
        await locks[Symbol.asyncDispose]();
        for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
      },
    };
  };

  return {
    cluster,
    nodes,
    clock,
    connectDirectly: (recipe, commandTimeLimit) => open(recipe, [], commandTimeLimit),
    connect: async (recipe, commandTimeLimit) => {
      const proxies = await Promise.all(
        nodes.map(({ address, spec }) => startTcpProxy({ host: address, port: spec.port ?? 0 })),
      );
      const behave = (kind: Exclude<Behaviour, { milliseconds: number }>['kind']): void => {
        for (const proxy of proxies) proxy.behave({ kind });
      };
      const network: ClientNetwork = {
        cut: () => behave('cut'),
        deafen: () => behave('swallow-replies'),
        // Through `cut`, so that connections which have lost replies are closed.
        heal: () => {
          behave('cut');
          behave('pass');
        },
      };
      return { ...(await open(recipe, proxies, commandTimeLimit)), network };
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}
