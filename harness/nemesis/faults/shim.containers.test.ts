// Wrong clocks and scarce resources on real processes: each acts, that is proved, and it heals. One server with the shim
// and a small disk, one client with the shim.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { askOverTcp } from '../../backends/ask-over-tcp.ts';
import { readTime } from '../../backends/redis/time.ts';
import { client, redis } from '../../cluster/docker/cluster.fixture.ts';
import { startCluster } from '../../cluster/docker/docker-cluster.ts';
import { findEngine } from '../../cluster/docker/engine.ts';
import { ensureImages } from '../../cluster/docker/images.ts';
import { preloaded, readShim } from '../../cluster/docker/shim.ts';
import type { Cluster, Node, NodeStream } from '../../contract/cluster.ts';
import type { FaultSpec, NodeFaultKind } from '../../contract/fault.ts';
import { millis, type JsonRecord } from '../../history/op.ts';
import { clockFaults } from './clock.ts';
import { readCounters } from './controls.ts';
import { cpuStarveFault } from './cpu-starve.ts';
import { diskFullFault } from './disk-full.ts';
import { slowFsyncFault } from './slow-fsync.ts';
import { stallFault } from './stall.ts';

/** Ample: what is asked for answers at once, or when a busy machine gets to it. */
const WITHIN = millis(30_000);
/** Says the time of day, or how long an amount of work took that needs the processor for some 50 ms. */
const PROGRAM = `
  const began = process.hrtime.bigint();
  if (line === 'work') for (let i = 0; i < 1e8; i++);
  console.log(line === 'time' ? Date.now() : Number(process.hrtime.bigint() - began) / 1e6);`;
let cluster: Cluster;
let server: Node;
let bystander: Node;
let process: Node;
let stream: NodeStream;
let listen: (answer: number) => void = () => {};

beforeAll(async () => {
  const engine = await findEngine();
  const images = await ensureImages(engine, { names: ['redis', 'client', 'shim'] });
  const { shim } = images;
  if (shim === undefined) throw new Error('no shim');
  const library = await readShim(engine, shim);
  const onDisk = { ...redis('r1'), command: ['--appendonly', 'yes', '--appendfsync', 'always'] };
  const withShim = preloaded(onDisk, library);
  const disk = { path: '/data', bytes: 16 << 20, holds: 'disk' as const };
  cluster = await startCluster(
    [
      { ...withShim, sharedFolders: [...(withShim.sharedFolders ?? []), disk] },
      redis('r2'),
      preloaded(client('c1', PROGRAM), library),
    ],
    { engine, images },
  );
  server = cluster.node('r1');
  bystander = cluster.node('r2');
  process = cluster.node('c1');
  stream = await process.connect();
  stream.onLine((line) => listen(Number(line)));
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

afterEach(async () => {
  const ahead = await aheadMillis(() => readTime(server));
  if (Math.abs(ahead) > 1_000) throw new Error(`the clock of ${server.name} was not set right: ${ahead} ms`);
});

async function tell(node: Node, command: string): Promise<string | undefined> {
  const answer = await askOverTcp(node, `${command}\r\nQUIT\r\n`, WITHIN);
  // The last one is for QUIT.
  return answer?.replace(/\+OK\r\n$/, '').trim();
}

async function ask(line: 'time' | 'work'): Promise<number> {
  return new Promise((resolve) => {
    listen = resolve;
    stream.send(line);
  });
}

/** By how much a clock is ahead of ours for certain, however long the question took; negative: behind. */
async function aheadMillis(read: () => Promise<number | undefined>): Promise<number> {
  const before = Date.now();
  const seen = await read();
  if (seen === undefined) return Infinity;
  return seen < before ? seen - before : Math.max(0, seen - Date.now());
}

const [jump, drift, strobe] = clockFaults({
  readTime: async (node) => (node === process ? ask('time') : readTime(node)),
}) as [NodeFaultKind, NodeFaultKind, NodeFaultKind];

function spec({ name }: NodeFaultKind, params: JsonRecord = {}): FaultSpec {
  return { fault: name, target: { kind: 'server' }, durationMillis: millis(400), params };
}

async function inScope(): Promise<void> {
  await using fault = await jump.inject(server, spec(jump, { byMillis: -3_600_000 }));
  expect(fault.evidence).toMatchObject({ askedMillis: -3_600_000 });
  await server.signal('SIGKILL');
  await server.start();
  await server.ready(WITHIN);
  expect(await aheadMillis(() => readTime(server))).toBeLessThan(-3_590_000);
  throw new Error('in the scope');
}

describe('clock-jump', () => {
  it('ends a lock of 30 seconds at once, for this server alone, and sets the clock right again', async () => {
    expect(await tell(server, 'SET lock a NX PX 30000')).toBe('+OK');
    expect(await tell(server, 'SET lock b NX PX 30000')).toMatch(/^\$-1/);
    const fault = await jump.inject(server, spec(jump, { byMillis: 60_000 }));
    const { measuredMillis, errorMillis } = fault.evidence ?? {};
    expect(Math.abs(Number(measuredMillis) - 60_000)).toBeLessThanOrEqual(Number(errorMillis));
    expect(await tell(server, 'SET lock b NX PX 30000')).toBe('+OK');
    expect(Math.abs(await aheadMillis(() => readTime(bystander)))).toBeLessThan(1_000);
    await fault[Symbol.asyncDispose]();
    expect(Math.abs(Number(fault.healed?.['differenceMillis']))).toBeLessThanOrEqual(
      Number(fault.healed?.['errorMillis']),
    );
  });

  it('goes back as well, outlives the end of the server, and heals when its scope throws', async () => {
    await expect(inScope()).rejects.toThrow('in the scope');
  });

  it('changes what a client takes for the time', async () => {
    await using fault = await jump.inject(process, spec(jump, { byMillis: 90_000 }));
    expect(await aheadMillis(() => ask('time'))).toBeGreaterThan(60_000);
    expect(fault.evidence).toMatchObject({ askedMillis: 90_000 });
    await fault[Symbol.asyncDispose]();
    expect(await aheadMillis(() => ask('time'))).toBeLessThan(1_000);
  });

  it('is not proved on a server without the shim', async () => {
    await using fault = await jump.inject(bystander, spec(jump, { byMillis: 60_000 }));
    expect(fault.evidence).toBeUndefined();
  });
});

it('clock-drift: the clock runs four times too fast', async () => {
  await using fault = await drift.inject(server, spec(drift, { rate: 3 }));
  const { measuredRate, errorRate } = fault.evidence ?? {};
  expect(Math.abs(Number(measuredRate) - 3)).toBeLessThanOrEqual(Number(errorRate));
  expect(Number(errorRate)).toBeLessThan(1);
});

it('clock-strobe: the clock is seen wrong and right', async () => {
  await using fault = await strobe.inject(server, spec(strobe, { byMillis: 60_000, phaseMillis: 200 }));
  const { measuredMillis = [] } = fault.evidence ?? {};
  const [wrong, right] = measuredMillis as number[];
  const error = Number(fault.evidence?.['errorMillis']);
  expect(Math.abs((wrong ?? Infinity) - 60_000)).toBeLessThanOrEqual(error);
  expect(Math.abs(right ?? Infinity)).toBeLessThan(30_000);
});

it('stall: a question that is asked meanwhile is answered late', async () => {
  const stall = stallFault();
  const fault = await stall.inject(server, spec(stall));
  expect(fault.evidence).toMatchObject({ state: 'stopped', probe: 'silent' });
  await fault[Symbol.asyncDispose]();
  expect(fault.healed).toMatchObject({ state: 'running', answer: 'answers' });
});

/** How often the client was denied the processor while it did its work. */
async function deniedPeriods(): Promise<number> {
  const before = await process.throttling();
  await ask('work');
  return (await process.throttling()).throttledPeriods - before.throttledPeriods;
}

it('cpu-starve: work is denied the processor, and no longer when that is lifted', async () => {
  const starve = cpuStarveFault();
  expect(await deniedPeriods()).toBe(0);
  const enough = new AbortController();
  const load = (async (): Promise<void> => {
    while (!enough.signal.aborted) await ask('work');
  })();
  const fault = await starve.inject(process, spec(starve, { share: 0.05 }));
  expect(fault.evidence).toMatchObject({ share: 0.05, deniedPeriods: expect.any(Number) });
  enough.abort();
  await load;
  expect(await deniedPeriods()).toBeGreaterThan(0);
  await fault[Symbol.asyncDispose]();
  expect(await deniedPeriods()).toBe(0);
});

it('slow-fsync: what must be on disk is answered late', async () => {
  const slow = slowFsyncFault();
  const injecting = slow.inject(server, spec(slow, { delayMillis: 300 }));
  const written: Promise<unknown>[] = [];
  const writing = setInterval(() => written.push(tell(server, 'INCR writes')), 200);
  const fault = await injecting.finally(() => clearInterval(writing));
  await Promise.all(written);
  expect(fault.evidence?.['meanMillis']).toBeGreaterThanOrEqual(300);
  await fault[Symbol.asyncDispose]();
  expect(fault.healed?.['heldBack']).toBeGreaterThanOrEqual(1);
  const [heldBack] = await readCounters(server, 'disk');
  await tell(server, 'INCR writes');
  expect(await readCounters(server, 'disk')).toEqual([heldBack, expect.any(Number)]);
});

it('disk-full: a server that must write ends, and is back with what it had answered', async () => {
  const full = diskFullFault();
  expect(await tell(server, 'SET kept 1')).toBe('+OK');
  const fault = await full.inject(server, spec(full));
  expect(fault.evidence).toMatchObject({ freeBytes: 0 });
  // More than is left in the last page of the file that it appends to.
  expect(await tell(server, `SET refused ${'1'.repeat(10_000)}`)).not.toBe('+OK');
  await fault[Symbol.asyncDispose]();
  expect(fault.healed).toMatchObject({ ended: true });
  expect(await tell(server, 'GET kept')).toMatch(/^\$1\r\n1/);
  await using unknown = await full.inject(bystander, spec(full));
  expect(unknown.evidence).toBeUndefined();
});
