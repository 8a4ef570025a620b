// Faults heal once, and also when they could not be put in force.

import { describe, expect, it } from 'vitest';
import { faultInForce, putInForce } from './scope.ts';

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
