// The simulated faults of the network are measured as the real ones are: one that acts says what was seen, one without an
// effect says nothing, and after healing the links are as before.

import { describe, expect, it } from 'vitest';
import type { Node } from '../contract/cluster.ts';
import type { FaultSpec } from '../contract/fault.ts';
import { millis, type JsonRecord } from '../history/op.ts';
import { simulatedCuts, simulatedLinks } from './faults.ts';
import { openNetwork, type BadLink, type Network } from './network.ts';
import { openScheduler } from './scheduler.ts';

function nodeNamed(name: string): Node {
  const node: Pick<Node, 'name'> = { name };
  return node as Node;
}

const [r1, r2, r3, c1, store] = ['r1', 'r2', 'r3', 'c1', 'store'].map(nodeNamed);
if (r1 === undefined || r2 === undefined || r3 === undefined || c1 === undefined || store === undefined)
  throw new Error('no nodes');
const target = r1;
const reach = { servers: [r1, r2, r3], clients: [c1], store };

type Spoil = (from: string, to: string, bad: BadLink) => () => void;

/** What was seen when the fault was in force, and when it was over. `spoils`: what the links do when they are told to. */
async function seenOf(
  fault: string,
  params: JsonRecord,
  spoils: (network: Network) => Spoil = (network) => (from, to, bad) => network.spoil(from, to, bad),
): Promise<{ readonly evidence: JsonRecord | undefined; readonly healed: JsonRecord | undefined }> {
  const scheduler = openScheduler();
  const whole = openNetwork(scheduler, '1');
  const network: Network = { ...whole, spoil: spoils(whole) };
  const kinds = [...simulatedCuts(reach, network, scheduler), ...simulatedLinks(reach, network, scheduler)];
  const kind = kinds.find(({ name }) => name === fault);
  if (kind === undefined) throw new Error(`no such fault: ${fault}`);
  const spec: FaultSpec = { fault, target: { kind: 'server' }, durationMillis: millis(1_000), params };
  return scheduler.run(async () => {
    const active = await kind.inject([target], spec);
    await active[Symbol.asyncDispose]();
    return { evidence: active.evidence, healed: active.healed };
  });
}

const forEver = (network: Network): Spoil => {
  return (from, to, bad) => {
    network.spoil(from, to, bad);
    return () => {};
  };
};

const FAULTS: readonly (readonly [fault: string, params: JsonRecord])[] = [
  ['partition', {}],
  ['reply-lost', {}],
  ['delay', { delayMillis: 50 }],
  ['loss', { percent: 30 }],
  ['duplicate', { percent: 30 }],
  ['reorder', { delayMillis: 50, percent: 30 }],
  ['rate', { kilobitPerSecond: 256 }],
];

describe('a simulated fault of the network', () => {
  it.each(FAULTS)('%s with %j is seen to act', async (fault, params) => {
    expect((await seenOf(fault, params)).evidence).toBeDefined();
  });

  it.each(FAULTS)('%s with %j says nothing when it had no effect', async (fault, params) => {
    expect((await seenOf(fault, params, () => () => () => {})).evidence).toBeUndefined();
  });

  it('is over when it is healed', async () => {
    expect((await seenOf('partition', {})).healed).toEqual({ heardAgain: true });
    const { healed } = await seenOf('loss', { percent: 100 });
    expect(healed).toMatchObject({ sent: 80, heard: 80 });
  });

  it('is not said to be over when it is not', async () => {
    expect((await seenOf('partition', {}, forEver)).healed).toEqual({ heardAgain: false });
    expect((await seenOf('loss', { percent: 100 }, forEver)).healed).toMatchObject({ heard: 0 });
  });
});
