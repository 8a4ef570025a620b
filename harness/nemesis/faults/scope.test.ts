// Faults heal once, and also when they could not be put in force.

import { describe, expect, it } from 'vitest';
import type { Node } from '../../contract/cluster.ts';
import type { FaultSpec, NodeFaultKind } from '../../contract/fault.ts';
import { millis } from '../../history/op.ts';
import { faultInForce, onEach, putInForce } from './scope.ts';

describe('faultInForce', () => {
  it('heals once, however often it is disposed', async () => {
    let healings = 0;
    const fault = faultInForce({ state: 'stopped' }, async () => ({ healings: (healings += 1) }));
    expect(fault.healed).toBeUndefined();
    await Promise.all([fault[Symbol.asyncDispose](), fault[Symbol.asyncDispose]()]);
    await fault[Symbol.asyncDispose]();
    expect(fault.healed).toEqual({ healings: 1 });
  });

  it('tells everybody that it could not be healed', async () => {
    const fault = faultInForce(undefined, () => Promise.reject(new Error('engine gone')));
    await expect(fault[Symbol.asyncDispose]()).rejects.toThrow('engine gone');
    await expect(fault[Symbol.asyncDispose]()).rejects.toThrow('engine gone');
  });
});

const fails = (message: string) => (): Promise<never> => Promise.reject(new Error(message));

describe('putInForce', () => {
  it('heals at once what could not be put in force', async () => {
    let healed = false;
    const heal = async (): Promise<{ state: string }> => {
      healed = true;
      return { state: 'running' };
    };
    await expect(putInForce(fails('no proof'), heal)).rejects.toThrow('no proof');
    expect(healed).toBe(true);
  });

  it('throws the first error, and keeps the second', async () => {
    await expect(putInForce(fails('no proof'), fails('no healing'))).rejects.toMatchObject({
      message: 'no proof',
      errors: [new Error('no proof'), new Error('no healing')],
    });
  });
});

const spec: FaultSpec = { fault: 'cut', target: { kind: 'server' }, durationMillis: millis(1) };
const nodeNamed = (name: string): Node => {
  const node: Pick<Node, 'name'> = { name };
  return node as Node;
};
const rig = (inject: NodeFaultKind['inject']): ReturnType<typeof onEach> =>
  onEach({ name: 'cut', summary: '', inject });

describe('onEach', () => {
  it('acted only if it acted on each, and shows what was seen where', async () => {
    const cut = rig(async ({ name }) =>
      faultInForce(name === 'deaf' ? undefined : { name }, async () => ({ open: name })),
    );
    const both = await cut.inject(['r1', 'r2'].map(nodeNamed), spec);
    expect(both.evidence).toEqual({ r1: { name: 'r1' }, r2: { name: 'r2' } });
    await both[Symbol.asyncDispose]();
    expect(both.healed).toEqual({ r1: { open: 'r1' }, r2: { open: 'r2' } });
    expect((await cut.inject(['r1', 'deaf'].map(nodeNamed), spec)).evidence).toBeUndefined();
    expect((await cut.inject([nodeNamed('r1')], spec)).evidence).toEqual({ name: 'r1' });
  });

  it('heals the others when one cannot be injected, and all although one cannot be healed', async () => {
    const healed: string[] = [];
    const cut = rig(async ({ name }) => {
      if (name === 'gone') throw new Error('engine gone');
      return faultInForce({}, async () => {
        if (name === 'stuck') throw new Error('stuck');
        healed.push(name);
        return {};
      });
    });
    await expect(cut.inject(['gone', 'r2'].map(nodeNamed), spec)).rejects.toThrow('engine gone');
    expect(healed).toEqual(['r2']);
    const stuck = await cut.inject(['stuck', 'r3'].map(nodeNamed), spec);
    await expect(stuck[Symbol.asyncDispose]()).rejects.toThrow('stuck');
    expect(healed).toEqual(['r2', 'r3']);
  });
});
