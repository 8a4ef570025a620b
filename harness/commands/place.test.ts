// `--on auto`: containers where an engine answers, simulation where none does.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { HarnessError } from '../contract/errors.ts';
import type { Choice, Choices } from '../settings/settings.ts';
import { placed } from './place.ts';

const chosen = (value: string): Choices =>
  new Map<string, Choice>([['on', { value, from: 'flag', written: `--on ${value}` }]]);
const noEngine = (): Promise<never> =>
  Promise.reject(new HarnessError('environment', 'no engine answers', { remedy: 'start one' }));

describe('--on auto', () => {
  const said: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0);
  afterEach(() => said.splice(0));

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

  it.each(['docker', 'simulation'])('leaves %s as it is', async (place) => {
    expect((await placed(chosen(place), noEngine)).get('on')?.value).toBe(place);
  });
});
