// A real cluster of a replicated lock service for tests, and clients of it that can be cut off one by one: each reaches
// every server through a proxy of its own.

import { monotonicClock, monotonicOrigin, type Clock } from '../clock.ts';
import { startCluster } from '../cluster/docker/docker-cluster.ts';
import { findEngine } from '../cluster/docker/engine.ts';
import { ensureImages } from '../cluster/docker/images.ts';
import { DEFAULT_VARIANT, type Backend } from '../contract/backend.ts';
import type { Cluster } from '../contract/cluster.ts';
import type { Recipe } from '../contract/lock-client.ts';
import { millis, type Millis, type Nanos } from '../history/op.ts';
import { startTcpProxy, type Behaviour, type TcpProxy } from '../testing/tcp-proxy.fixture.ts';
import type { ContractClient } from './quorum-contract.fixture.ts';

export interface QuorumCluster extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** From nothing to every server ready, with the images present. */
  readonly startMillis: number;
  /** A client of its own process, behind proxies of its own. */
  connect(
    recipe: Recipe,
  ): Promise<ContractClient & AsyncDisposable & { readonly proxies: readonly TcpProxy[] }>;
}

export async function startQuorum(
  backend: Backend,
  { ttlMillis, commandTimeLimit }: { readonly ttlMillis: Millis; readonly commandTimeLimit: Millis },
): Promise<QuorumCluster> {
  const engine = await findEngine();
  const specs = backend.servers({ variant: DEFAULT_VARIANT, ttlMillis });
  const images = await ensureImages(engine, { names: specs.map(({ image }) => image) });
  const clock = monotonicClock(monotonicOrigin());
  const cluster = await startCluster(specs, { engine, images, readyTimeLimit: millis(60_000) });
  const startMillis = clock.now() / 1e6;
  let clients = 0;
  return {
    cluster,
    clock,
    startMillis,
    connect: async (recipe) => {
      clients += 1;
      const proxies = await Promise.all(
        specs.map(({ name, port = 0 }) => startTcpProxy({ host: cluster.node(name).address, port })),
      );
      const losses = new Map<string, Nanos>();
      const behave = (kind: Exclude<Behaviour, { milliseconds: number }>['kind']): void => {
        for (const proxy of proxies) proxy.behave({ kind });
      };
      await recipe.load?.();
      const locks = recipe.open({
        process: `c${clients}`,
        servers: proxies.map(({ host, port }, index) => ({ name: specs[index]?.name ?? '', host, port })),
        commandTimeLimit,
        now: () => clock.now(),
        onLost: ({ owner }) => losses.set(owner, clock.now()),
      });
      return {
        locks,
        losses,
        proxies,
        cut: () => behave('cut'),
        deafen: () => behave('swallow-replies'),
        // Through `cut`, so that connections which have lost replies are closed.
        heal: () => {
          behave('cut');
          behave('pass');
        },
        [Symbol.asyncDispose]: async () => {
          await locks[Symbol.asyncDispose]();
          for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
        },
      };
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}
