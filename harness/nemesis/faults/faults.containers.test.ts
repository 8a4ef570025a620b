// Each fault on a real node: it acts, that is proved, and it heals, whatever happens meanwhile.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { client, postgres, redis, stage } from '../../cluster/docker/cluster.fixture.ts';
import { startCluster } from '../../cluster/docker/docker-cluster.ts';
import type { Cluster, Node } from '../../contract/cluster.ts';
import type { FaultSpec } from '../../contract/fault.ts';
import { millis } from '../../history/op.ts';
import { killFault } from './kill.ts';
import { pauseFault } from './pause.ts';

/** Ample: what is asked for answers at once, or when a busy machine gets to it. */
const WITHIN = millis(30_000);
const SHORT = millis(300);
const pause = pauseFault();
const kill = killFault();
let cluster: Cluster;
let server: Node;
let store: Node;
let process: Node;

function spec(fault: string, params?: FaultSpec['params']): FaultSpec {
  return { fault, target: { kind: 'server' }, durationMillis: millis(1_000), ...(params && { params }) };
}

beforeAll(async () => {
  cluster = await startCluster(
    [redis('r1'), postgres('store'), client('c1', 'console.log(line)')],
    await stage(),
  );
  server = cluster.node('r1');
  store = cluster.node('store');
  process = cluster.node('c1');
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

afterEach(async () => {
  for (const node of cluster.nodes.values()) {
    if ((await node.state()).kind !== 'running') throw new Error(`node ${node.name} was not healed`);
    await node.ready(WITHIN);
  }
});

describe('pause', () => {
  it('stops a server, proves it, and lets it go on', async () => {
    const fault = await pause.inject(server, spec('pause'));
    expect(fault.evidence).toMatchObject({ state: 'stopped', probe: 'silent', silenceMillis: 250 });
    expect(await server.state()).toMatchObject({ kind: 'stopped' });
    expect(await server.probe(SHORT)).toBe('silent');
    await fault[Symbol.asyncDispose]();
    expect(fault.healed).toMatchObject({ state: 'running' });
    expect(await server.probe(WITHIN)).toBe('answers');
    await fault[Symbol.asyncDispose]();
  });

  it('stops a client within some 20 ms, proof included', async () => {
    const proved: number[] = [];
    for (let round = 0; round < 15; round++) {
      await using fault = await pause.inject(process, spec('pause'));
      proved.push(Number(fault.evidence?.['provedMillis']));
    }
    // 17 ms on an idle machine; the bound leaves room for a busy one.
    expect(proved.toSorted((a, b) => a - b)[7]).toBeLessThan(100);
  });

  it('heals when its scope throws', async () => {
    const scope = async (): Promise<void> => {
      await using _fault = await pause.inject(server, spec('pause'));
      throw new Error('in the scope');
    };
    await expect(scope()).rejects.toThrow('in the scope');
    expect(await server.probe(WITHIN)).toBe('answers');
  });

  it('does not claim to have stopped a server whose children go on; the freezer stops them too', async () => {
    {
      await using fault = await pause.inject(store, spec('pause'));
      expect(fault.evidence).toBeUndefined();
    }
    await using fault = await pause.inject(store, spec('pause', { freezer: true }));
    expect(fault.evidence).toMatchObject({ state: 'frozen', probe: 'silent' });
    await fault[Symbol.asyncDispose]();
    expect(fault.healed).toMatchObject({ state: 'running' });
  });

  it('is over when the node is killed under it, and when that is started again', async () => {
    for (const params of [{}, { freezer: true }]) {
      const killed = await pause.inject(server, spec('pause', params));
      await server.signal('SIGKILL');
      await killed[Symbol.asyncDispose]();
      expect(killed.healed).toMatchObject({ state: 'exited' });
      await server.start();
      await server.ready(WITHIN);

      const replaced = await pause.inject(server, spec('pause', params));
      await server.signal('SIGKILL');
      await server.start();
      await replaced[Symbol.asyncDispose]();
      expect(replaced.healed).toMatchObject({ state: 'running' });
    }
  });

  it('does not claim to have stopped what is not there', async () => {
    await server.signal('SIGKILL');
    const fault = await pause.inject(server, spec('pause'));
    expect(fault.evidence).toBeUndefined();
    await fault[Symbol.asyncDispose]();
    expect(fault.healed).toMatchObject({ state: 'exited' });
    await server.start();
  });
});

describe('kill', () => {
  it('ends a server, proves it, and starts it again', async () => {
    const fault = await kill.inject(server, spec('kill'));
    expect(fault.evidence).toMatchObject({ state: 'exited', exitCode: 137, probe: 'refused' });
    expect(await server.probe(WITHIN)).toBe('refused');
    await fault[Symbol.asyncDispose]();
    expect(fault.healed).toMatchObject({ state: 'running', startedBy: 'us' });
    expect(await server.probe(WITHIN)).toBe('answers');
    await fault[Symbol.asyncDispose]();
  });

  it('heals when its scope throws', async () => {
    const scope = async (): Promise<void> => {
      await using _fault = await kill.inject(server, spec('kill'));
      throw new Error('in the scope');
    };
    await expect(scope()).rejects.toThrow('in the scope');
    expect(await server.probe(WITHIN)).toBe('answers');
  });

  it('leaves a client to the one who knows how to greet it', async () => {
    const asked: string[] = [];
    const faults = killFault({
      restartClient: async (node) => {
        asked.push(node.name);
        await node.start();
      },
    });
    const fault = await faults.inject(process, spec('kill'));
    expect(fault.evidence).toMatchObject({ state: 'exited', exitCode: 137 });
    await fault[Symbol.asyncDispose]();
    expect(asked).toEqual(['c1']);
  });

  it('does not start a node that somebody else has started', async () => {
    const fault = await kill.inject(server, spec('kill'));
    await server.start();
    await fault[Symbol.asyncDispose]();
    expect(fault.healed).toMatchObject({ state: 'running', startedBy: 'others' });
  });

  it('does not claim to have killed what was dead, nor bring it back', async () => {
    await server.signal('SIGKILL');
    const fault = await kill.inject(server, spec('kill'));
    expect(fault.evidence).toBeUndefined();
    await fault[Symbol.asyncDispose]();
    expect(await server.state()).toMatchObject({ kind: 'exited' });
    await server.start();
  });

  it('ends a node that is stopped', async () => {
    await server.signal('SIGSTOP');
    await using fault = await kill.inject(server, spec('kill'));
    expect(fault.evidence).toMatchObject({ state: 'exited' });
  });
});
