// The contract of polling recipes on real clusters, each recipe on its own servers; and what all of them owe a client
// when the servers do not answer, or are gone: an answer in time that is no grant, and a lock that can be had again.

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { monotonicClock, monotonicOrigin } from '../clock.ts';
import { startCluster } from '../cluster/docker/docker-cluster.ts';
import { findEngine } from '../cluster/docker/engine.ts';
import { ensureImages } from '../cluster/docker/images.ts';
import { DEFAULT_VARIANT, type Backend } from '../contract/backend.ts';
import type { Cluster, Node } from '../contract/cluster.ts';
import type { AcquireRequest, LockClient, Recipe } from '../contract/lock-client.ts';
import { millis } from '../history/op.ts';
import { postgres } from './postgres/server.ts';
import { redisReplicated } from './redis-replicated/server.ts';
import { redisSentinel } from './redis-sentinel/server.ts';
import { redisSingle } from './redis/server.ts';
import { redlockBackend } from './redlock/server.ts';
import { contractCases, CONTRACT_TTL, granted } from './redis/recipe-contract.fixture.ts';

const TIME_LIMIT = millis(2_000);
const READY_TIME_LIMIT = millis(30_000);
const clock = monotonicClock(monotonicOrigin());

const stages: readonly { readonly backend: Backend; readonly variant: string }[] = [
  { backend: redisSingle, variant: 'valkey' },
  { backend: redisSingle, variant: 'valkey-9' },
  { backend: redisReplicated, variant: DEFAULT_VARIANT },
  { backend: redisSentinel, variant: DEFAULT_VARIANT },
  { backend: redlockBackend, variant: DEFAULT_VARIANT },
  { backend: postgres, variant: DEFAULT_VARIANT },
];

async function elapse(milliseconds: number): Promise<void> {
  await delay(milliseconds);
}

function requestsFor(lock: string): (owner: string) => AcquireRequest {
  return (owner) => ({ lock, ttlMillis: CONTRACT_TTL, owner });
}

describe.each(stages)('$backend.name, $variant', ({ backend, variant }) => {
  let cluster: Cluster;
  let nodes: readonly Node[];

  beforeAll(async () => {
    const engine = await findEngine();
    const specs = backend.servers({ variant, ttlMillis: CONTRACT_TTL });
    const images = await ensureImages(engine, { names: specs.map(({ image }) => image) });
    cluster = await startCluster(specs, { engine, images });
    nodes = specs.map(({ name }) => cluster.node(name));
    await backend.assemble?.(nodes);
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  const open = (recipe: Recipe): LockClient =>
    recipe.open({
      process: 'c1',
      servers: nodes.map(({ name, address, spec }) => ({ name, host: address, port: spec.port ?? 0 })),
      commandTimeLimit: TIME_LIMIT,
      now: () => clock.now(),
      onLost: () => {},
    });

  describe.each(backend.recipes)('$name', (recipe) => {
    it.concurrent.each(contractCases(recipe))('$name', async ({ run }) => {
      await using first = open(recipe);
      await using second = open(recipe);
      await expect(run({ first, second, now: () => clock.now(), elapse })).resolves.toBeUndefined();
    });
  });

  it.each(backend.recipes.filter(({ flaw }) => flaw === undefined))(
    '$name: servers that stand still give no grant, and no lock stays taken for it',
    async (recipe) => {
      await using client = open(recipe);
      await using other = open(recipe);
      const request = requestsFor(`still-${recipe.name}`);
      const held = granted(await client.acquire(request('warm-up')));
      await client.release(held);
      for (const node of nodes) await node.freeze();
      const began = performance.now();
      const attempt = request('attempt');
      try {
        expect((await client.acquire(attempt)).kind).not.toBe('ok');
        expect(performance.now() - began).toBeLessThan(3 * TIME_LIMIT);
      } finally {
        for (const node of nodes) await node.thaw();
      }
      await client.abandon(attempt);
      await expect
        .poll(async () => (await other.acquire(request(`again-${performance.now()}`))).kind, {
          timeout: 20_000,
        })
        .toBe('ok');
    },
  );

  it('servers that are gone refuse for certain, or their answer is unknown; after a restart all is well', async () => {
    const [recipe] = backend.recipes;
    if (recipe === undefined) throw new Error('a backend without recipes');
    await using client = open(recipe);
    const request = requestsFor('gone');
    granted(await client.acquire(request('before')));
    await Promise.all(nodes.map((node) => node.signal('SIGKILL')));
    // The first request may be the one that finds the connection broken.
    expect((await client.acquire(request('first'))).kind).not.toBe('ok');
    expect((await client.acquire(request('second'))).kind).toBe('fail');
    for (const node of nodes) {
      await node.start();
      await node.ready(READY_TIME_LIMIT);
    }
    await backend.roles?.rejoin?.(nodes[1] ?? cluster.node('r1'), nodes);
    await expect
      .poll(async () => (await client.acquire(request(`after-${performance.now()}`))).kind, {
        timeout: 30_000,
      })
      .toBe('ok');
  });
});
