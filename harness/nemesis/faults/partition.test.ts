// What is taken for a proof that a cut acts, and that it is over, over a network in memory: its nodes answer the commands
// that faults put to their sandboxes. What real kernels do is in `network.containers.test.ts`.

import { describe, expect, it } from 'vitest';
import type { ExecResult, Node } from '../../contract/cluster.ts';
import type { ActiveFault } from '../../contract/fault.ts';
import { millis, type JsonRecord } from '../../history/op.ts';
import type { Network } from './network.ts';
import { partitionFaults } from './partition.ts';

interface FakeNetwork extends Network {
  /** Node → chain → rules and the packets they met. */
  readonly chains: ReadonlyMap<string, Map<string, { rule: string; met: number }[]>>;
  /** Nodes that take rules, count packets, and let them pass. */
  readonly ignores: Set<string>;
}

const ok = (stdout = ''): Promise<ExecResult> => Promise.resolve({ exitCode: 0, stdout, stderr: '' });

function fakeNetwork(): FakeNetwork {
  const names = ['r1', 'r2', 'r3', 'c1', 'store'];
  const address = (name: string): string => `10.0.0.${names.indexOf(name) + 1}`;
  const chains = new Map(names.map((name) => [name, new Map<string, { rule: string; met: number }[]>()]));
  const ignores = new Set<string>();
  const meets = (at: string, match: string): boolean => {
    const rules = [...(chains.get(at)?.values() ?? [])].flat().filter(({ rule }) => rule.startsWith(match));
    const [first] = rules;
    if (first === undefined) return false;
    first.met += 1;
    return !ignores.has(at);
  };
  const arrives = (from: string, to: string): boolean =>
    !meets(from, `-d ${address(to)} `) && !meets(to, `-s ${address(from)} `);
  const execIn = (name: string, command: readonly string[]): Promise<ExecResult> => {
    const own = chains.get(name);
    const text = command.join(' ');
    if (command[0] === 'perl') {
      const peers = names.filter((peer) => peer !== name && text.includes(`${address(peer)}:`));
      const heard = peers.filter((peer) => arrives(peer, name)).map(address);
      const answered = peers.filter((peer) => arrives(name, peer) && arrives(peer, name)).map(address);
      return ok(`${['heard', ...heard].join(' ')}\n${['answered', ...answered].join(' ')}\n`);
    }
    const chain = /LOCKPICK-[A-Z0-9-]*/.exec(text)?.[0] ?? '';
    if (text.includes('iptables-restore'))
      own?.set(
        chain,
        [...text.matchAll(/'-A \S+ (.*?)'/g)].map(([, rule = '']) => ({ rule, met: 0 })),
      );
    else if (text.includes('-X ')) own?.delete(chain);
    else if (text.includes('-S INPUT'))
      return ok([...(own?.keys() ?? [])].map((key) => `-A INPUT -j ${key}`).join('\n'));
    else if (text.includes('-L '))
      return ok((own?.get(chain) ?? []).map(({ met }) => `  ${met}  40 DROP all`).join('\n'));
    return ok();
  };
  const node = (name: string): Node => {
    const fake: Pick<Node, 'name' | 'address' | 'spec' | 'execInSandbox'> = {
      name,
      address: address(name),
      spec: { name, role: 'server', image: 'redis' },
      execInSandbox: (command) => execIn(name, command),
    };
    return fake as Node;
  };
  const [r1, r2, r3, c1, store] = names.map(node);
  if (store === undefined) throw new Error('no store');
  return {
    servers: [r1, r2, r3].filter((found) => found !== undefined),
    clients: [c1].filter((found) => found !== undefined),
    store,
    chains,
    ignores,
  };
}

function inject(
  network: FakeNetwork,
  target: number,
  params: JsonRecord,
  kind = 'partition',
): Promise<ActiveFault> {
  const found = partitionFaults(network).find(({ name }) => name === kind);
  const node = network.servers[target] ?? network.clients[0];
  if (found === undefined || node === undefined) throw new Error('no such fault');
  return found.inject([node], { fault: kind, target: { kind: 'server' }, durationMillis: millis(0), params });
}

const standing = ({ chains }: FakeNetwork): string[] =>
  [...chains.values()].flatMap((own) => [...own.keys()]);

describe('a cut', () => {
  it.each([
    ['partition', 0, {}, { r1: ['r2', 'r3'], r2: ['r1'], r3: ['r1'] }],
    ['partition', 0, { way: 'out' }, { r2: ['r1'], r3: ['r1'] }],
    ['reply-lost', 9, {}, { c1: ['r1', 'r2', 'r3'] }],
    ['reply-late', 9, { from: 'one-server' }, { c1: ['r1'] }],
  ])('%s of %i with %j says who is deaf, and is taken back', async (kind, target, params, deaf) => {
    const network = fakeNetwork();
    const fault = await inject(network, target, params, kind);
    expect(fault.evidence).toMatchObject({ deaf });
    expect(standing(network)).toHaveLength(1);
    await fault[Symbol.asyncDispose]();
    expect(fault.healed).toMatchObject({ heardAgain: true });
    expect(standing(network)).toEqual([]);
  });

  it('is not claimed where rules are not followed', async () => {
    const network = fakeNetwork();
    network.ignores.add('r1');
    await using fault = await inject(network, 0, {});
    expect(fault.evidence).toBeUndefined();
  });

  it('is not claimed if somebody else is silent too', async () => {
    const network = fakeNetwork();
    network.chains.get('r2')?.set('OTHER', [{ rule: '-s 10.0.0.3 -j DROP', met: 0 }]);
    await using fault = await inject(network, 0, {});
    expect(fault.evidence).toBeUndefined();
    network.chains.get('r2')?.delete('OTHER');
  });

  it('is not claimed for a direction in which nothing came anyway', async () => {
    const network = fakeNetwork();
    network.chains.get('r2')?.set('OTHER', [{ rule: '-d 10.0.0.1 -j DROP', met: 0 }]);
    await using fault = await inject(network, 0, {});
    expect(fault.evidence).toBeUndefined();
    network.chains.get('r2')?.delete('OTHER');
  });

  it('is not blamed for what another cut does, nor for a server that is not let in yet', async () => {
    const network = fakeNetwork();
    await using first = await inject(network, 0, {});
    network.chains.get('r3')?.set('LOCKPICK-RETURN', [{ rule: '-s 10.0.0.2 -j DROP', met: 0 }]);
    await using second = await inject(network, 1, { from: ['r1', 'c1'] });
    expect(first.evidence).toBeDefined();
    expect(second.evidence).toMatchObject({ deaf: { r2: ['r1', 'c1'] } });
    network.chains.get('r3')?.delete('LOCKPICK-RETURN');
  });

  it('has no effect of its own where another one has it already', async () => {
    const network = fakeNetwork();
    await using _first = await inject(network, 0, { from: ['r2'], way: 'out' });
    await using second = await inject(network, 1, { from: ['r1'], way: 'in' });
    expect(second.evidence).toBeUndefined();
  });

  it('that does not go away is an error', async () => {
    const network = fakeNetwork();
    const fault = await inject(network, 0, {});
    network.chains.get('r2')?.set('OTHER', [{ rule: '-s 10.0.0.1 -j DROP', met: 0 }]);
    await expect(fault[Symbol.asyncDispose]()).rejects.toThrow('r2 does not hear r1');
  });
});
