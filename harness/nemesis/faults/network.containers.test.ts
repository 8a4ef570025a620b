// Faults of the network on real nodes: each acts in the directions it says and in no other, silently; it survives that a
// server is killed, and it heals, whatever happens meanwhile. One cluster for all.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { client, postgres, redis, stage } from '../../cluster/docker/cluster.fixture.ts';
import { linkAbilities } from '../../cluster/docker/sandbox-trials.ts';
import { startCluster } from '../../cluster/docker/docker-cluster.ts';
import type { Cluster, Node, NodeStream } from '../../contract/cluster.ts';
import type { ActiveFault, FaultKind } from '../../contract/fault.ts';
import { millis, type JsonRecord } from '../../history/op.ts';
import { killFault } from './kill.ts';
import type { Network } from './network.ts';
import { linkFaults } from './links.ts';
import { partitionFaults } from './partition.ts';
import { onEach } from './scope.ts';

/** Ample: what is asked for answers at once, or when a busy machine gets to it. */
const WITHIN = millis(30_000);
const SERVERS = ['r1', 'r2', 'r3', 'r4'];
/** Keeps one connection to r1, writes what it is sent, and says what comes back. */
const RAW_CLIENT = `
  globalThis.socket ??= require('node:net').connect(6379, 'r1').on('data', (data) => console.log(String(data).trim()));
  socket.write(line + '\\r\\n');
`;
let cluster: Cluster;
let network: Network;
let kinds: ReadonlyMap<string, FaultKind>;
let [a, b, c, d]: Node[] = [];
let stream: NodeStream;
const replies: string[] = [];

beforeAll(async () => {
  const { engine, images } = await stage();
  cluster = await startCluster([...SERVERS.map(redis), postgres('store'), client('c1', RAW_CLIENT)], {
    engine,
    images,
  });
  const servers = SERVERS.map((name) => cluster.node(name));
  [a, b, c, d] = servers;
  network = { servers, clients: [cluster.node('c1')], store: cluster.node('store') };
  const can = await linkAbilities(engine, images['sandbox']?.reference ?? '');
  const possible = [...partitionFaults(network), ...linkFaults(network, can)];
  kinds = new Map(possible.map((kind) => [kind.name, kind]));
  stream = await cluster.node('c1').connect();
  stream.onLine((line) => replies.push(line));
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});
afterEach(async () => {
  for (const node of cluster.nodes.values())
    if (/LOCKPICK/.test(await rules(node))) throw new Error(`node ${node.name} was not healed`);
});

function inject(
  kind: string,
  targets: readonly (Node | undefined)[],
  params: JsonRecord,
): Promise<ActiveFault> {
  const nodes = targets.filter((node) => node !== undefined);
  const found = kinds.get(kind);
  if (found === undefined) throw new Error(`no kind ${kind}`);
  return found.inject(nodes, { fault: kind, target: { kind: 'server' }, durationMillis: WITHIN, params });
}

async function rules(node: Node | undefined): Promise<string> {
  return (await node?.execInSandbox(['iptables', '-S'], WITHIN))?.stdout ?? '';
}

/** Servers that answer a PING of this one within a second; one that refuses, or another error, fails the test. */
async function answering(from: Node | undefined): Promise<string> {
  const names = SERVERS.filter((name) => name !== from?.name);
  const script = names.map(
    (name) => `(timeout 1 redis-cli -h ${name} PING >/dev/null 2>&1; echo ${name} $?) &`,
  );
  const { stdout = '' } = (await from?.exec(['sh', '-c', `${script.join('\n')}\nwait`], WITHIN)) ?? {};
  const codes = new Map(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ') as [string, string]),
  );
  expect(
    [...codes.values()].every((code) => code === '0' || code === '124'),
    stdout,
  ).toBe(true);
  return names.filter((name) => codes.get(name) === '0').join(' ');
}

async function all(): Promise<string[]> {
  return Promise.all([a, b, c, d].map(answering));
}

async function settles<T>(look: () => Promise<T>, expected: T): Promise<void> {
  await expect.poll(look, { interval: 1 }).toEqual(expected);
}

const EVERYBODY = ['r2 r3 r4', 'r1 r3 r4', 'r1 r2 r4', 'r1 r2 r3'];

describe('partition', () => {
  it.each([
    ['one server off', [0], { from: 'servers' }, ['', 'r3 r4', 'r2 r4', 'r2 r3']],
    ['a bridge', [0, 1, 2, 3], { shape: 'bridge' }, ['r2 r3 r4', 'r1', 'r1 r4', 'r1 r3']],
    ['a ring of majorities', [0, 1, 2, 3], { shape: 'ring' }, ['r2 r4', 'r1 r3', 'r2 r4', 'r1 r3']],
    ['one that does not hear', [0], { from: 'servers', way: 'in' }, ['', 'r3 r4', 'r2 r4', 'r2 r3']],
    [
      'one that is not heard',
      [0],
      { from: 'majority', way: 'out', turn: 1 },
      ['r2', 'r1 r3 r4', 'r2 r4', 'r2 r3'],
    ],
  ] as const)(
    '%s: silence where it says so and nowhere else, and heals',
    async (_, targets, params, left) => {
      const before = await rules(a);
      const fault = await inject(
        'partition',
        targets.map((index) => network.servers[index]),
        params,
      );
      expect(fault.evidence).toMatchObject({ cutMillis: expect.any(Number), packets: expect.any(Number) });
      await settles(all, [...left]);
      await fault[Symbol.asyncDispose]();
      expect(fault.healed).toMatchObject({ heardAgain: true });
      await settles(all, EVERYBODY);
      expect(await rules(a)).toBe(before);
    },
  );

  it('survives that the server is killed and started, and heals when its scope throws', async () => {
    const scope = async (): Promise<void> => {
      await using _cut = await inject('partition', [a], { from: 'one-server' });
      const killed = await onEach(killFault()).inject(a === undefined ? [] : [a], {
        fault: 'kill',
        target: { kind: 'server' },
        durationMillis: WITHIN,
      });
      await killed[Symbol.asyncDispose]();
      await settles(() => answering(a), 'r3 r4');
      throw new Error('in the scope');
    };
    await expect(scope()).rejects.toThrow('in the scope');
    await settles(() => answering(a), 'r2 r3 r4');
  });

  it('leaves the rules of others alone, and those of another cut in force', async () => {
    const foreign = ['-p', 'tcp', '--dport', '7', '-j', 'DROP'];
    await a?.execInSandbox(['iptables', '-A', 'INPUT', ...foreign], WITHIN);
    const cut = await inject('partition', [a], { from: 'servers' });
    const smaller = await inject('partition', [b], { from: ['r1', 'r4'] });
    expect(smaller.evidence).toBeDefined();
    await cut[Symbol.asyncDispose]();
    await settles(all, ['r3 r4', 'r3', 'r1 r2 r4', 'r1 r3']);
    await smaller[Symbol.asyncDispose]();
    await settles(all, EVERYBODY);
    expect(await rules(a)).toContain('--dport 7');
    await a?.execInSandbox(['iptables', '-D', 'INPUT', ...foreign], WITHIN);
  });
});

async function getKey(): Promise<string> {
  return (await a?.exec(['redis-cli', 'GET', 'k'], WITHIN))?.stdout.trim() ?? '';
}

async function arrived(count: number): Promise<void> {
  await expect.poll(() => replies).toHaveLength(count);
}

describe('replies', () => {
  it('do not arrive while the request is carried out, and the store is reached; late, they arrive', async () => {
    stream.send('SET k 1');
    await arrived(1);
    const fault = await inject('reply-late', [cluster.node('c1')], {});
    expect(fault.evidence).toMatchObject({ deaf: { c1: SERVERS } });
    stream.send('SET k 2');
    while ((await getKey()) !== '2') continue;
    expect(replies).toEqual(['+OK']);
    await fault[Symbol.asyncDispose]();
    await arrived(2);
    expect(replies).toEqual(['+OK', '+OK']);
  });
});

describe('links', () => {
  it('are bad for those peers, each in its way, and good again', async () => {
    for (const fault of ['loss', 'duplicate', 'rate']) {
      await using active = await inject(fault, [a], { from: 'one-server', percent: 40 });
      expect(active.evidence, fault).toMatchObject({ way: expect.any(String) });
      await active[Symbol.asyncDispose]();
      expect(active.healed, fault).toMatchObject({ trial: { received: 200, distinct: 200 } });
    }
    expect((await a?.execInSandbox(['tc', 'class', 'show', 'dev', 'eth0'], WITHIN))?.stdout).toBe('');
  });

  it('are slow by their delay: what was held back arrives when it is over, though the fault is not', async () => {
    const before = replies.length;
    await using slow = await inject('delay', [cluster.node('c1')], {
      from: 'one-server',
      delayMillis: 1_500,
    });
    expect(slow.evidence).toMatchObject({ delayMillis: 1_500 });
    stream.send('SET k 3');
    await arrived(before + 1);
    expect(replies).toHaveLength(before + 1);
  });
});
