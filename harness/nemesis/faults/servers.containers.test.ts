// Faults that need more than one server, or that take a server's disk: each acts, that is proved, and it heals.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redis, stage } from '../../cluster/docker/cluster.fixture.ts';
import { startCluster } from '../../cluster/docker/docker-cluster.ts';
import type { Cluster, Node } from '../../contract/cluster.ts';
import type { FaultSpec } from '../../contract/fault.ts';
import { millis } from '../../history/op.ts';
import { killFault } from './kill.ts';
import { restartEmptyFault } from './restart-empty.ts';

/** Ample: what is asked for answers at once, or when a busy machine gets to it. */
const WITHIN = millis(30_000);
let cluster: Cluster;
let [first, second, third]: Node[] = [];

function spec(params?: FaultSpec['params']): FaultSpec {
  return { fault: '', target: { kind: 'server' }, durationMillis: millis(0), ...(params && { params }) };
}

beforeAll(async () => {
  const disk = ['--appendonly', 'yes', '--appendfsync', 'always'];
  cluster = await startCluster(
    ['r1', 'r2', 'r3'].map((name) => ({ ...redis(name), command: disk })),
    await stage(),
  );
  [first, second, third] = ['r1', 'r2', 'r3'].map((name) => cluster.node(name));
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

function servers(): [Node, Node, Node] {
  if (first === undefined || second === undefined || third === undefined) throw new Error('no cluster');
  return [first, second, third];
}

/** What `from` gets when it asks `to` for a PING, in so many seconds. */
async function ping(from: Node, to: Node, seconds = 20): Promise<string> {
  const { stdout, exitCode } = await from.exec(
    ['timeout', String(seconds), 'redis-cli', '-h', to.address, 'PING'],
    WITHIN,
  );
  return exitCode === 124 ? 'silence' : stdout.trim();
}

async function command(node: Node, ...words: string[]): Promise<string> {
  return (await node.exec(['redis-cli', ...words], WITHIN)).stdout.trim();
}

describe('a server that ends', () => {
  it('comes back with its disk from kill, and without it from restart-empty', async () => {
    const [a, b] = servers();
    expect(await command(a, 'SET', 'k', 'v')).toBe('OK');
    const killed = await killFault().inject(a, spec());
    await killed[Symbol.asyncDispose]();
    expect(await command(a, 'GET', 'k')).toBe('v');
    const emptied = await restartEmptyFault().inject(a, spec());
    expect(emptied.evidence).toMatchObject({ state: 'exited', emptied: true });
    expect(await a.probe(WITHIN)).toBe('refused');
    await emptied[Symbol.asyncDispose]();
    expect(emptied.healed).toMatchObject({ state: 'running' });
    expect(await command(a, 'DBSIZE')).toBe('0');
    expect(await ping(b, a)).toBe('PONG');
    expect(await a.logs()).toMatch(/Ready to accept connections[\s\S]*Ready to accept connections/);
  });

  it('is unreachable until it has rejoined, where the harness hands out roles', async () => {
    const [a, b] = servers();
    const seen: string[] = [];
    const fault = await killFault({
      rejoin: async (node) => {
        seen.push(await ping(b, node, 0.5), await command(node, 'PING'));
      },
    }).inject(a, spec());
    await fault[Symbol.asyncDispose]();
    expect(seen).toEqual(['silence', 'PONG']);
    expect(await ping(b, a)).toBe('PONG');
  });

  it('stays away for as long as whoever runs it leaves it down', async () => {
    const [a] = servers();
    const slow: Node = { ...a, spec: { ...a.spec, restartDelayMillis: millis(1_500) } };
    const fault = await restartEmptyFault().inject(slow, spec());
    const began = performance.now();
    await fault[Symbol.asyncDispose]();
    expect(performance.now() - began).toBeGreaterThan(1_200);
  });
});
