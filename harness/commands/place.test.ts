// `--on auto`: containers where an engine answers, simulation where none does.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { HarnessError } from '../contract/errors.ts';
import type { Choice, Choices } from '../settings/settings.ts';
import { placed, possible } from './place.ts';
import { comparisonOf } from './run.ts';

const chosen = (value: string): Choices =>
  new Map<string, Choice>([['on', { value, from: 'flag', written: `--on ${value}` }]]);
const said: string[] = [];
vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0);
afterEach(() => said.splice(0));

const noEngine = (): Promise<never> =>
  Promise.reject(new HarnessError('environment', 'no engine answers', { remedy: 'start one' }));

describe('--on auto', () => {
  it('is nothing that was chosen where an engine answers', async () => {
    expect((await placed(chosen('auto'), () => Promise.resolve())).has('on')).toBe(false);
    expect(said).toEqual([]);
  });

  it('is simulation where none does, and says so', async () => {
    expect((await placed(chosen('auto'), noEngine)).get('on')?.value).toBe('simulation');
    expect(said.join('')).toMatch(/^simulated, not run: no engine answers.*start one/);
  });

  it('hides no bug of ours', async () => {
    await expect(placed(chosen('auto'), () => Promise.reject(new TypeError('x')))).rejects.toThrow(TypeError);
  });

  it('is among the places to choose from where there is no such place', async () => {
    await expect(placed(chosen('moon'), noEngine)).rejects.toMatchObject({
      code: 'usage',
      message: '--on moon: unknown place "moon"',
      remedy: 'known: docker, simulation, auto',
    });
  });

  it.each(['docker', 'simulation'])('leaves %s as it is', async (place) => {
    expect((await placed(chosen(place), noEngine)).get('on')?.value).toBe(place);
  });
});

/** How many runs are left out. */
async function leftOut(...patterns: readonly string[]): Promise<number> {
  return leftOutOf('simulation', patterns);
}

async function leftOutOf(place: string, patterns: readonly string[]): Promise<number> {
  const choices = chosen(place);
  const comparison = await comparisonOf(patterns, choices, undefined);
  return comparison.plans.length - (await possible(comparison, choices, patterns)).plans.length;
}

describe('--on simulation', () => {
  it('leaves out of a pattern what cannot be simulated, and says so', async () => {
    expect(await leftOut('redis-single/set-nx-px/*')).toBeGreaterThan(0);
    expect(said.join('')).toMatch(/^left out, because the fault disk-full is not simulated.*: redis-single/);
  });

  it('refuses a cell that was named, and a pattern of which nothing is left', async () => {
    const named = 'redis-single/set-nx-px/disk-full';
    await expect(leftOut('redis-single/set-nx-px/none', named)).rejects.toThrow('disk-full is not simulated');
    await expect(leftOut('redis-single/*/disk-full')).rejects.toThrow('disk-full is not simulated');
    expect(await leftOut('redis-single/set-nx-px/none')).toBe(0);
  });
});

describe('--on docker', () => {
  it('leaves out of a pattern what is only simulated, and says so', async () => {
    expect(await leftOutOf('docker', ['redis-single/set-nx-px/*'])).toBe(1);
    expect(said.join('')).toMatch(
      /^left out, because the fault power-loss is only simulated: containers share a kernel.*: redis-single\/set-nx-px\/lose-power$/m,
    );
  });

  it('refuses a cell that was named', async () => {
    const named = 'redis-single/set-nx-px/lose-power';
    await expect(leftOutOf('docker', ['redis-single/set-nx-px/none', named])).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('power-loss is only simulated'),
      remedy: 'add --on simulation',
    });
    expect(await leftOut(named)).toBe(0);
  });
});
