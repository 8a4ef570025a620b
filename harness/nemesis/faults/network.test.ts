// What targets and parameters of a fault of the network mean, pair by pair.

import { describe, expect, it } from 'vitest';
import type { Node } from '../../contract/cluster.ts';
import type { JsonRecord } from '../../history/op.ts';
import { pairsOf } from './grudge.ts';
import { grudgeBetween, type Network } from './network.ts';

/** A node by name only; a grudge is about names. */
function fakeNode(name: string): Node {
  const node: Pick<Node, 'name'> = { name };
  return node as Node;
}

const nodes = new Map(
  ['r1', 'r2', 'r3', 'r4', 'r5', 'c1', 'c2', 'store'].map((name) => [name, fakeNode(name)]),
);
const named = (...names: string[]): Node[] => names.flatMap((name) => nodes.get(name) ?? []);
const network: Network = {
  servers: named('r1', 'r2', 'r3', 'r4', 'r5'),
  clients: named('c1', 'c2'),
  store: fakeNode('store'),
};

/** `c1<r1`: c1 does not hear r1. */
const deaf = (targets: string, params: JsonRecord): string =>
  pairsOf(grudgeBetween(named(...targets.split(' ')), params, network))
    .map((pair) => pair.join('<'))
    .join(' ');

describe('grudgeBetween', () => {
  it.each([
    ['c1', { way: 'in' }, 'c1<r1 c1<r2 c1<r3 c1<r4 c1<r5'],
    ['c1', { from: 'one-server' }, 'c1<r1 r1<c1'],
    ['r1', { from: 'one-server' }, 'r1<r2 r2<r1'],
    ['c1', { from: 'minority', way: 'in', turn: 4 }, 'c1<r5 c1<r1'],
    ['c2', { from: 'majority', way: 'out', turn: 1 }, 'r2<c2 r3<c2 r4<c2'],
    ['r1 r2', { from: 'clients', way: 'in' }, 'r1<c1 r1<c2 r2<c1 r2<c2'],
    ['r1 r2 r3', { way: 'in' }, 'r1<r4 r1<r5 r2<r4 r2<r5 r3<r4 r3<r5'],
    ['r1', { from: 'everyone', way: 'in' }, 'r1<r2 r1<r3 r1<r4 r1<r5 r1<c1 r1<c2'],
    ['c1', { from: ['store'] }, 'c1<store store<c1'],
    ['r1 r2', { shape: 'islands' }, 'r1<r2 r2<r1'],
    ['r1 r2 r3', { shape: 'bridge' }, 'r2<r3 r3<r2'],
    ['r1 r2 r3', { shape: 'ring' }, 'r1<r2 r2<r3 r3<r1'],
  ])('%s with %j', (targets, params, expected) => {
    expect(deaf(targets, params)).toBe(expected);
  });

  it.each([{ from: 'nobody' }, { from: ['r9'] }, { shape: 'star' }, { way: 'up' }])(
    'refuses %j',
    (params) => {
      expect(() => deaf('r1', params)).toThrow(/no network fault has the parameters/);
    },
  );
});
