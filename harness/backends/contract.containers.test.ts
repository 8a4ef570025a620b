// The contract of every recipe on the real servers of every backend; and what all of them owe a client when servers are
// stopped or gone: an answer in time that is no grant, and a lock that can be had again.

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_VARIANT, type Backend } from '../contract/backend.ts';
import type { Node } from '../contract/cluster.ts';
import type { AcquireRequest, LockClient, Recipe } from '../contract/lock-client.ts';
import { millis, type Millis } from '../history/op.ts';
import { AMPLE_TTL, granted } from './arena.fixture.ts';
import { contractCases } from './contract.fixture.ts';
import { etcd } from './etcd/server.ts';
import { postgres } from './postgres/server.ts';
import { redisReplicated } from './redis-replicated/server.ts';
import { redisSentinel } from './redis-sentinel/server.ts';
import { redisSingle } from './redis/server.ts';
import { redlockBackend } from './redlock/server.ts';
import { watchLateness } from '../testing/lateness.fixture.ts';
import { startStage, type Stage } from '../testing/service-stage.ts';
import { zookeeper } from './zookeeper/server.ts';

const READY_TIME_LIMIT = millis(30_000);
/** Of a client whose servers answer. */
const AMPLE = millis(10_000);
const STALL = millis(10_000);

interface Place {
  readonly backend: Backend;
  readonly variant: string;
  readonly ttlMillis: Millis;
  /** How much later than the TTL the service may end a lease, on a busy machine. */
  readonly lateMillis: Millis;
  /** Of a client whose servers fall silent. */
  readonly commandTimeLimit: Millis;
  /** Its clients reach its servers only at the addresses that they are given. */
  readonly network: boolean;
  /** What its servers say that they are. */
  readonly version: RegExp;
}

const redis = {
  variant: DEFAULT_VARIANT,
  ttlMillis: millis(500),
  lateMillis: millis(2),
  commandTimeLimit: millis(1_000),
  network: true,
  version: /^redis 8\.\d+\.\d+$/,
};

const places: readonly Place[] = [
  { ...redis, backend: redisSingle },
  { ...redis, backend: redisSingle, variant: 'valkey', version: /^valkey 8\.1\.\d+$/ },
  { ...redis, backend: redisSingle, variant: 'valkey-9', version: /^valkey 9\.\d+\.\d+$/ },
  { ...redis, backend: redisReplicated },
  { ...redis, backend: redisSentinel, network: false },
  // Each of its servers gets a fifth.
  { ...redis, backend: redlockBackend, commandTimeLimit: millis(2_000) },
  {
    backend: etcd,
    variant: DEFAULT_VARIANT,
    ttlMillis: millis(1_000),
    // The leader looks for expired leases twice a second; a new one lets them run once more in full.
    lateMillis: millis(1_500 + STALL),
    commandTimeLimit: millis(500),
    network: true,
    version: /^etcd 3\.\d+\.\d+$/,
  },
  {
    backend: zookeeper,
    variant: DEFAULT_VARIANT,
    ttlMillis: millis(1_000),
    // A session ends up to one tick late; a new leader lets it run once more in full.
    lateMillis: millis(1_500 + STALL),
    commandTimeLimit: millis(500),
    network: true,
    version: /^zookeeper 3\.\d+\.\d+$/,
  },
  { ...redis, backend: postgres, version: /^postgres 17\.\d+$/ },
];

describe.each(places)('$backend.name, $variant', (place) => {
  const { backend, variant, ttlMillis, network, commandTimeLimit } = place;
  let stage: Stage;
  beforeAll(async () => {
    stage = await startStage(backend, { variant, ttlMillis: AMPLE_TTL, commandTimeLimit });
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  const open = (recipe: Recipe, timeLimit = commandTimeLimit) =>
    network ? stage.connect(recipe, timeLimit) : stage.connectDirectly(recipe, timeLimit);

  it('has servers that say which version they are, and one leader where there are roles', async () => {
    for (const node of stage.nodes) expect(await backend.version(node)).toMatch(place.version);
    expect(await leaders(backend, stage.nodes)).toHaveLength(backend.roles === undefined ? 0 : 1);
  });

  const right = backend.recipes.filter(({ flaw }) => flaw === undefined);
  describe.each(variant === DEFAULT_VARIANT ? backend.recipes : right)(
    '$name keeps the contract',
    (recipe) => {
      it.concurrent.each(contractCases(recipe, { network }))('$name', async ({ run, silent }) => {
        const timeLimit = silent === true ? commandTimeLimit : AMPLE;
        await using first = await open(recipe, timeLimit);
        await using second = await open(recipe, timeLimit);
        const { clock } = stage;
        const arena = {
          ...place,
          recipe,
          first,
          second,
          now: () => clock.now(),
          elapse: (milliseconds: number) => delay(milliseconds),
          timeLimitMillis: commandTimeLimit,
          stallMillis: STALL,
          lateness: () => watchLateness(clock),
        };
        await expect(run(arena)).resolves.toBeUndefined();
      });
    },
  );

  // One for each backend: what a client makes of silence is in the contract.
  const recipe = right.at(-1);
  if (recipe === undefined) throw new Error('a backend without recipes');

  it(`${recipe.name}: servers that stand still give no grant, and no lock stays taken for it`, async () => {
    await using client = await open(recipe);
    await using other = await open(recipe);
    const request = requestsFor('still', ttlMillis);
    const held = await grantedAgain(client.locks, request);
    await client.locks.release(held);
    for (const node of stage.nodes) await node.freeze();
    const began = stage.clock.now();
    const attempt = request('attempt');
    try {
      expect((await client.locks.acquire(attempt)).kind).not.toBe('ok');
      const tookMillis = (stage.clock.now() - began) / 1e6;
      expect(tookMillis).toBeLessThan(3 * commandTimeLimit + ttlMillis + STALL);
    } finally {
      for (const node of stage.nodes) await node.thaw();
    }
    await client.locks.abandon(attempt);
    await grantedAgain(other.locks, request);
  });

  it.runIf(backend === etcd || backend === zookeeper).each([
    { what: 'stopped', hurt: 'SIGSTOP', heal: 'SIGCONT' },
    { what: 'killed', hurt: 'SIGKILL', heal: undefined },
  ] as const)('a leader that is $what: the lock can be had, and no token is given twice', async (fault) => {
    await using client = await open(recipe);
    const request = requestsFor(`leader-${fault.what}`, ttlMillis);
    const before = await grantedAgain(client.locks, request);
    await client.locks.release(before);
    const [leader] = await leaders(backend, stage.nodes);
    if (leader === undefined) throw new Error('nobody leads');
    await leader.signal(fault.hurt);
    try {
      const after = await grantedAgain(client.locks, request);
      expect(after.token ?? 0n).toBeGreaterThan(before.token ?? 0n);
    } finally {
      if (fault.heal === undefined) await leader.start();
      else await leader.signal(fault.heal);
      await leader.ready(READY_TIME_LIMIT);
    }
  });

  it('servers that are gone refuse for certain, or their answer is unknown; after a restart all is well', async () => {
    await using client = await stage.connectDirectly(recipe, AMPLE);
    const request = requestsFor('gone', ttlMillis);
    granted(await client.locks.acquire(request('before')));
    await Promise.all(stage.nodes.map((node) => node.signal('SIGKILL')));
    // The first request may be the one that finds the connection broken.
    expect((await client.locks.acquire(request('first'))).kind).not.toBe('ok');
    expect((await client.locks.acquire(request('second'))).kind).toBe('fail');
    await Promise.all(stage.nodes.map((node) => node.start()));
    await Promise.all(stage.nodes.map((node) => node.ready(READY_TIME_LIMIT)));
    for (const node of stage.nodes.slice(1)) await backend.roles?.rejoin?.(node, stage.nodes);
    await grantedAgain(client.locks, request);
  });
});

function requestsFor(lock: string, ttlMillis: Millis): (owner: string) => AcquireRequest {
  return (owner) => ({ lock, ttlMillis, owner, patienceMillis: millis(4_000) });
}

let tries = 0;

/** Whoever leads by its own word: asked until somebody does. */
async function leaders({ roles: asked }: Backend, nodes: readonly Node[]): Promise<readonly Node[]> {
  if (asked === undefined) return [];
  for (;;) {
    const roles = await Promise.all(nodes.map((node) => asked.ask(node)));
    const leading = nodes.filter((_node, index) => /leader|primary/.test(roles[index]?.role ?? ''));
    if (leading.length > 0) return leading;
    await delay(100);
  }
}

async function grantedAgain(locks: LockClient, request: (owner: string) => AcquireRequest) {
  const deadline = performance.now() + READY_TIME_LIMIT;
  for (;;) {
    const attempt = request(`try-${(tries += 1)}`);
    const outcome = await locks.acquire(attempt);
    if (outcome.kind === 'ok' || performance.now() > deadline) return granted(outcome);
    if (outcome.kind === 'info') await locks.abandon(attempt);
    await delay(100);
  }
}
