// What cannot be simulated is refused with a reason.

import { describe, expect, it } from 'vitest';
import { refusal } from './on-simulation.ts';

describe('what is not simulated', () => {
  it.each([
    [{ backend: 'no-such' }, [], 'the servers of no-such are not simulated'],
    [{ backend: 'redis-single', adapter: './lock.ts' }, [], 'opens real connections'],
    [{ backend: 'redis-single' }, ['pause', 'disk-full'], 'the fault disk-full is not simulated'],
  ])('%j with %j', (plan, faults, message) => {
    const refused = refusal({ on: 'simulation', ...plan }, faults);
    expect(refused?.code).toBe('usage');
    expect(refused?.message).toContain(message);
    expect(refused?.remedy).toContain('containers');
  });

  it('is nothing of what is', () => {
    expect(refusal({ backend: 'redis-single', on: 'simulation' }, ['pause', 'kill'])).toBeUndefined();
  });
});
