// The bundled client program in its own image, against a real Redis and a real store: what it records is a history
// that adds up, it lives through SIGSTOP, and it is small enough to have many of.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { monotonicClock, monotonicOrigin } from '../clock.ts';
import type { ClientConfig } from '../contract/control.ts';
import { assembleHistory, type Operation } from '../history/history.ts';
import { HISTORY_FORMAT, millis, type Header } from '../history/op.ts';
import { defences } from '../postgres-store/defences.ts';
import { prepareStore, storeNode } from '../postgres-store/node.ts';
import {
  startProgram,
  startServer,
  type ProgramContainer,
  type ServerContainer,
} from '../testing/container.fixture.ts';
import { bundleClient } from './bundle.ts';
import { clientProcess, type ClientProcess } from './client-process.fixture.ts';

const HEADER: Header = { format: HISTORY_FORMAT, version: 1, clock: 'shared', clockErrorNanos: 0, meta: {} };
const LOCKS = ['k1', 'k2'];
const MEMORY_LIMIT_BYTES = 60 * 2 ** 20;

let redis: ServerContainer;
let store: ServerContainer;
let folder: string;
const program: Record<string, string> = {};
/** Of the test that runs, to be removed whatever becomes of it. */
let programs: ProgramContainer[] = [];

beforeAll(async () => {
  const { image, port } = storeNode();
  [redis, store] = await Promise.all([startServer('redis', 6379), startServer(image, port ?? 0)]);
  while ((await store.exec(['pg_isready', '-q', '-h', '127.0.0.1'])).exitCode !== 0) await delay(50);
  await prepareStore(store);
  folder = mkdtempSync(join(tmpdir(), 'lockpick-client-'));
  for (const { path, content } of await bundleClient()) {
    const file = join(folder, basename(path));
    writeFileSync(file, content);
    program[file] = path;
  }
});
afterAll(async () => {
  await redis[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

afterEach(async () => {
  await Promise.all(programs.map((container) => container[Symbol.asyncDispose]()));
  programs = [];
});

interface Running {
  readonly name: string;
  readonly container: ProgramContainer;
  readonly client: ClientProcess;
}

async function start(name: string, origin: bigint, config: Partial<ClientConfig>): Promise<Running> {
  const container = await startProgram('client', program);
  programs.push(container);
  const client = clientProcess(container.child);
  const clock = monotonicClock(origin);
  const asked = clock.now();
  client.send({ t: 'hello', origin: String(origin), round: 1 });
  const { time } = await client.answer('hello');
  expect(time).toBeGreaterThanOrEqual(asked);
  expect(time).toBeLessThanOrEqual(clock.now());
  const nothing = { min: millis(0), max: millis(0) };
  client.send({
    t: 'setup',
    config: {
      process: name,
      backend: 'redis-single',
      recipe: 'fenced-incr',
      workload: 'counter',
      servers: [{ name: 'r1', host: redis.host, port: redis.port }],
      store: { host: store.host, port: store.port },
      defences: defences.map((defence) => defence.name),
      locks: LOCKS,
      seed: name,
      firstId: Number(name.slice(1)),
      idStep: 100,
      cutWrites: 0,
      ttlMillis: millis(10_000),
      commandTimeLimitMillis: millis(10_000),
      thinkMillis: nothing,
      idleMillis: nothing,
      pollMillis: { min: millis(2), max: millis(6) },
      patienceMillis: millis(5000),
      ...config,
    },
  });
  await client.answer('ready');
  return { name, container, client };
}

async function end({ client }: Running): Promise<void> {
  client.send({ t: 'quit' });
  expect(await client.ended).toBe(0);
}

/** How many events have come of it when none has come for a while. */
async function arrived(running: Running | undefined): Promise<number> {
  for (let seen = -1; ;) {
    const count = running?.client.events.length ?? 0;
    if (count === seen) return count;
    seen = count;
    await delay(300);
  }
}

function reads({ client }: Running): number {
  return client.events.filter((event) => event.type === 'ok' && event.op === 'read').length;
}

function allOperations(running: readonly Running[]): readonly Operation[] {
  return assembleHistory(
    HEADER,
    running.flatMap(({ client }) => client.events),
  ).operations;
}

describe('clients in containers', () => {
  it('record a history that adds up, are small, and live through SIGSTOP', async () => {
    const origin = monotonicOrigin();
    const running = await Promise.all(['c1', 'c2', 'c3'].map((name) => start(name, origin, {})));
    for (const { container } of running) {
      const { residentBytes, chargedBytes } = await container.memory();
      expect(residentBytes).toBeLessThanOrEqual(MEMORY_LIMIT_BYTES);
      expect(chargedBytes).toBeLessThanOrEqual(MEMORY_LIMIT_BYTES);
    }
    for (const { client } of running) client.send({ t: 'start' });
    await delay(1000);
    const paused = running[0];
    await paused?.container.signal('STOP');
    // What it wrote before is still on its way for a while.
    const before = await arrived(paused);
    await delay(300);
    expect(paused?.client.events).toHaveLength(before);
    await paused?.container.signal('CONT');
    await delay(1000);
    for (const { client } of running) client.send({ t: 'stop' });
    for (const { client } of running) await client.answer('stopped');
    running[1]?.client.send({ t: 'try-each', locks: LOCKS, timeLimitMillis: millis(12_000) });
    await running[1]?.client.answer('tried');
    running[1]?.client.send({ t: 'read-all' });
    await running[1]?.client.answer('read');

    const operations = allOperations(running);
    expect(operations.filter(({ outcome }) => outcome === 'ok').length).toBeGreaterThan(50);
    expect(operations.every(({ completed }) => completed !== undefined)).toBe(true);
    expect(new Set(operations.map(({ process }) => process)).size).toBe(3);
    // Nobody outlived a lease, so every write was the next version, whatever defends the key.
    for (const { name: defence } of defences)
      for (const key of LOCKS) {
        const of = operations.filter(
          (operation) => 'store' in operation && operation.store === defence && operation.key === key,
        );
        const writes = of.filter(({ op, outcome }) => op === 'write' && outcome === 'ok');
        const audit = of.flatMap((operation) => (operation.op === 'read' ? (operation.audit ?? []) : []));
        expect(new Set(audit.map(({ id }) => id))).toEqual(new Set(writes.map(({ id }) => id)));
        expect(audit.map(({ base, version }) => [base, version])).toEqual(
          audit.map((_, index) => [String(index), String(index)]),
        );
        expect(of.at(-1)).toMatchObject({
          op: 'read',
          value: String(audit.length),
          version: String(audit.length),
        });
      }
    for (const each of running) await end(each);
  });

  it('that is PID 1 ends on SIGTERM, and when its stdin ends', async () => {
    const [first, second] = await Promise.all([start('c4', 0n, {}), start('c5', 0n, {})]);
    await first.container.signal('TERM');
    expect(await first.client.ended).toBe(143);
    second.client.closeStdin();
    expect(await second.client.ended).toBe(0);
  });

  it('whose holder is stopped for longer than the lease goes on writing when it wakes', async () => {
    const origin = monotonicOrigin();
    // The signal has all of the think time to arrive in.
    const think = { min: millis(5_000), max: millis(5_000) };
    const lease: Partial<ClientConfig> = { locks: ['short'], ttlMillis: millis(2000), thinkMillis: think };
    const [sleeper, other] = await Promise.all([start('c6', origin, lease), start('c7', origin, lease)]);
    // Stopped with a read on its way it would find that one timed out when it wakes, and write nothing.
    sleeper.client.send({ t: 'start' });
    await expect.poll(() => reads(sleeper), { interval: 5 }).toBe(defences.length);
    await sleeper.container.signal('STOP');
    // Its lease has run out when another one has read with a higher token.
    other.client.send({ t: 'start' });
    await expect.poll(() => reads(other)).toBeGreaterThanOrEqual(defences.length);
    await sleeper.container.signal('CONT');
    for (const { client } of [sleeper, other]) {
      client.send({ t: 'stop' });
      await client.answer('stopped');
    }
    const stale = allOperations([sleeper]).filter(
      ({ op, error }) => op === 'write' && error === 'stale-token',
    );
    expect(stale.length).toBeGreaterThan(0);
    for (const each of [sleeper, other]) await end(each);
  });
});
