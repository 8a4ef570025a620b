// Which nodes a fault of the network stands between, and in which direction: what a step's targets and parameters mean,
// as a grudge. All faults of the network read their parameters here. Knows roles of nodes, no firewall.

import type { Node } from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import type { JsonRecord } from '../../history/op.ts';
import { apart, bridge, deafTo, majoritiesRing, type Grudge } from './grudge.ts';

export interface Network {
  readonly servers: readonly Node[];
  readonly clients: readonly Node[];
  /** Only a step that names it hurts it (I8). */
  readonly store: Node;
}

/**
 * Parameters of every fault of the network. `shape`: `sides` (the default; the targets against those that `from` names),
 * `ring`, `bridge` or `islands` (among the targets). `from`: `servers` (the default), `clients`, `everyone` (but not the
 * store), `one-server`, `minority` or `majority` (so many of the other servers, from number `turn` on), or names of
 * nodes. `way`: `both` (the default), `in` (the targets do not hear the others), `out` (they are not heard).
 */
export function grudgeBetween(targets: readonly Node[], params: JsonRecord, network: Network): Grudge {
  const names = namesOf(targets);
  const others = (nodes: readonly Node[]): Node[] => nodes.filter(({ name }) => !names.includes(name));
  const { shape = 'sides', from = 'servers', way = 'both', turn = 0 } = params;
  if (shape === 'ring') return majoritiesRing(names);
  if (shape === 'bridge') return bridge(names);
  if (shape === 'islands') return deafTo(names, names);
  const peers = peersNamed(from, Number(turn), {
    servers: others(network.servers),
    clients: others(network.clients),
    store: network.store,
  });
  if (shape === 'sides' && way === 'both') return apart(names, peers);
  if (shape === 'sides' && way === 'in') return deafTo(names, peers);
  if (shape === 'sides' && way === 'out') return deafTo(peers, names);
  throw unknown({ shape, way });
}

function namesOf(nodes: readonly Node[]): string[] {
  return nodes.map(({ name }) => name);
}

function peersNamed(from: unknown, turn: number, { servers, clients, store }: Network): readonly string[] {
  const first = turn % servers.length;
  const turned = [...servers.slice(first), ...servers.slice(0, first)];
  const minority = Math.floor((servers.length - 1) / 2);
  switch (from) {
    case 'servers':
      return namesOf(servers);
    case 'clients':
      return namesOf(clients);
    case 'everyone':
      return namesOf([...servers, ...clients]);
    case 'one-server':
      return namesOf(turned.slice(0, 1));
    case 'minority':
      return namesOf(turned.slice(0, minority));
    case 'majority':
      return namesOf(turned.slice(0, servers.length - minority));
    default:
  }
  const known = namesOf([...servers, ...clients, store]);
  if (Array.isArray(from) && from.every((name): name is string => known.includes(String(name)))) return from;
  throw unknown({ from });
}

function unknown(params: Readonly<Record<string, unknown>>): HarnessError {
  return new HarnessError('usage', `no network fault has the parameters ${JSON.stringify(params)}`, {
    remedy:
      'shape: sides, ring, bridge, islands; way: both, in, out; from: servers, clients, everyone, …, or names of nodes',
  });
}

/** The nodes of those names. */
export function nodesNamed(names: Iterable<string>, { servers, clients, store }: Network): readonly Node[] {
  const wanted = new Set(names);
  return [...servers, ...clients, store].filter(({ name }) => wanted.has(name));
}
