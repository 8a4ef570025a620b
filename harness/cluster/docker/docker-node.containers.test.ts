// One node on a real engine: what it does when it is stopped, frozen, killed, started, asked, and spoken to.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Cluster, Node, NodeState } from '../../contract/cluster.ts';
import { millis } from '../../history/op.ts';
import { client, postgres, redis, stage } from './cluster.fixture.ts';
import { startCluster } from './docker-cluster.ts';
import { isStopped, parseTop, readThreads, TOP_ARGUMENTS } from './process-state.ts';

const LINES = 100_000;
const PROGRAM = `
  if (line === 'many') { let text = ''; for (let i = 0; i < ${LINES}; i++) text += i + ' zażółć 🔒\\n'; process.stdout.write(text); }
  else if (line === 'die') process.exit(7);
  else { console.log('got ' + line); console.error('heard ' + line); }
`;

/** Ample: what is asked for answers at once, or when a busy machine gets to it. */
const WITHIN = millis(30_000);
const SHORT = millis(300);
let cluster: Cluster;
let server: Node;
let store: Node;

beforeAll(async () => {
  cluster = await startCluster(
    [redis('r1'), postgres('store'), client('c1', PROGRAM), client('c2', PROGRAM)],
    await stage(),
  );
  server = cluster.node('r1');
  store = cluster.node('store');
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

/** A signal has been delivered when the engine says so; on a busy machine the threads obey a moment later. */
async function becomes(node: Node, kind: NodeState['kind']): Promise<void> {
  await expect.poll(async () => (await node.state()).kind).toBe(kind);
}

/** What a client says to a line. */
async function answerOf(node: Node, line: string): Promise<string> {
  const stream = await node.connect();
  return new Promise((resolve) => {
    stream.onLine(resolve);
    stream.send(line);
  });
}

describe('a server', () => {
  it('is silent while it is stopped, and answers afterwards', async () => {
    await becomes(server, 'running');
    await server.signal('SIGSTOP');
    await becomes(server, 'stopped');
    expect(await server.probe(SHORT)).toBe('silent');
    await server.signal('SIGCONT');
    await becomes(server, 'running');
    expect(await server.probe(WITHIN)).toBe('answers');
  });

  it('is silent while it is frozen, and answers afterwards', async () => {
    await server.thaw();
    await server.freeze();
    await server.freeze();
    await becomes(server, 'frozen');
    expect(await server.probe(SHORT)).toBe('silent');
    await server.thaw();
    await becomes(server, 'running');
    expect(await server.probe(WITHIN)).toBe('answers');
  });

  it('is not stopped while its children run, but can be frozen with them', async () => {
    await store.signal('SIGSTOP');
    await becomes(store, 'running');
    await store.signal('SIGCONT');
    await store.freeze();
    await becomes(store, 'frozen');
    expect(await store.probe(SHORT)).toBe('silent');
    await store.thaw();
    await store.ready(WITHIN);
  });

  it('refuses when it was killed, and answers when it was started', async () => {
    await server.signal('SIGKILL');
    expect(await server.state()).toEqual({ kind: 'exited', exitCode: 137 });
    expect(await server.probe(WITHIN)).toBe('refused');
    for (const signal of ['SIGSTOP', 'SIGCONT', 'SIGKILL'] as const) await server.signal(signal);
    await server.freeze();
    await server.thaw();
    await server.start();
    await server.start();
    await server.ready(WITHIN);
    await becomes(server, 'running');
  });

  it('refuses also a probe that is a command', async () => {
    await store.signal('SIGKILL');
    expect(await store.probe(WITHIN)).toBe('refused');
    await store.start();
    await store.ready(WITHIN);
  });

  it('declines when it answers something else', async () => {
    await server.exec(['redis-cli', 'config', 'set', 'requirepass', 'secret'], WITHIN);
    expect(await server.probe(WITHIN)).toBe('declines');
    await server.exec(['redis-cli', '-a', 'secret', 'config', 'set', 'requirepass', ''], WITHIN);
    expect(await server.probe(WITHIN)).toBe('answers');
  });

  it('is only connected to when it has no ready probe, and not asked at all without a port', async () => {
    const { ready: _, ...bare } = redis('r1');
    await using other = await startCluster([bare], await stage());
    await expect.poll(async () => other.node('r1').probe(WITHIN)).toBe('answers');
    await other.node('r1').signal('SIGKILL');
    expect(await other.node('r1').probe(WITHIN)).toBe('refused');
    await expect(cluster.node('c1').probe(SHORT)).rejects.toThrow('no port and no ready probe');
  });
});

describe('the two sources of a state', () => {
  it('agree', async () => {
    const { engine } = await stage();
    const container = engine.docker.getContainer(`lockpick-${cluster.session}-c1`);
    const node = cluster.node('c1');
    const { Id, State } = await container.inspect();
    const fromTop = async (): Promise<boolean | undefined> =>
      isStopped(parseTop(await container.top({ ps_args: TOP_ARGUMENTS })), State.Pid);
    const fromProc = (): boolean | undefined => isStopped(readThreads(State.Pid, Id) ?? [], State.Pid);
    // Only an engine on this machine shares /proc with us.
    const shared = readThreads(State.Pid, Id) !== undefined;
    expect([await fromTop(), shared ? fromProc() : false]).toEqual([false, false]);
    await node.signal('SIGSTOP');
    await becomes(node, 'stopped');
    expect([await fromTop(), shared ? fromProc() : true]).toEqual([true, true]);
    await node.signal('SIGCONT');
  });
});

describe('exec', () => {
  it('gives exit code, stdout and stderr apart', async () => {
    const script = 'echo out; echo err >&2; exit 3';
    expect(await server.exec(['sh', '-c', script], WITHIN)).toEqual({
      exitCode: 3,
      stdout: 'out\n',
      stderr: 'err\n',
    });
  });

  it('ends at its time limit', async () => {
    const began = Date.now();
    await expect(server.exec(['sleep', '60'], SHORT)).rejects.toThrow(
      'sleep did not end within 300 ms on node r1',
    );
    expect(Date.now() - began).toBeLessThan(30_000);
  });

  it('ends in a container that is stopped or frozen', async () => {
    for (const [hold, letGo] of [
      [() => server.signal('SIGSTOP'), () => server.signal('SIGCONT')],
      [() => server.freeze(), () => server.thaw()],
    ] as const) {
      await hold();
      const began = Date.now();
      await server.exec(['true'], SHORT).catch(() => {});
      expect(Date.now() - began).toBeLessThan(30_000);
      await letGo();
    }
    await server.ready(WITHIN);
  });
});

describe('a stream', () => {
  it('carries lines both ways, also the first one and strange ones', async () => {
    expect(await answerOf(cluster.node('c2'), 'Grüße 🔒')).toBe('got Grüße 🔒');
    await expect.poll(async () => cluster.node('c2').logs()).toBe('heard Grüße 🔒\n');
  });

  it('loses and reorders none of many lines', async () => {
    const stream = await cluster.node('c1').connect();
    const seen = await new Promise<number>((resolve) => {
      let expected = 0;
      stream.onLine((line) => {
        if (line !== `${expected} zażółć 🔒`) resolve(expected);
        expected += 1;
        if (expected === LINES) resolve(expected);
      });
      stream.send('many');
    });
    expect(seen).toBe(LINES);
  });

  it('survives a stop: what was sent meanwhile is answered afterwards', async () => {
    const node = cluster.node('c2');
    const stream = await node.connect();
    const lines: string[] = [];
    stream.onLine((line) => lines.push(line));
    await node.signal('SIGSTOP');
    await becomes(node, 'stopped');
    stream.send('while stopped');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(lines).toEqual([]);
    expect(await node.connect()).toBe(stream);
    await node.signal('SIGCONT');
    await expect.poll(() => lines).toEqual(['got while stopped']);
  });

  it('ends when its process dies, and a new one begins with the next process', async () => {
    const node = cluster.node('c2');
    for (let round = 0; round < 3; round++) {
      const before = await node.connect();
      await node.signal('SIGKILL');
      await before.closed;
      before.send('to nobody');
      const after = await node.connect();
      expect(after).not.toBe(before);
      expect(await node.connect()).toBe(after);
      await node.start();
      expect(await node.connect()).toBe(after);
      expect(await answerOf(node, `round ${round}`)).toBe(`got round ${round}`);
    }
  });

  it('begins by itself when a node is started without a connect', async () => {
    const node = cluster.node('c2');
    const before = await node.connect();
    before.send('die');
    await before.closed;
    await expect.poll(async () => node.state()).toEqual({ kind: 'exited', exitCode: 7 });
    await node.start();
    expect(await answerOf(node, 'again')).toBe('got again');
  });

  it('is refused for a node that has none', async () => {
    await expect(server.connect()).rejects.toThrow('node r1 has no streams');
  });
});
