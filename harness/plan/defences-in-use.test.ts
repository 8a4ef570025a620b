// Which defences a run uses, and what is said of one that it cannot use.

import { describe, expect, it } from 'vitest';
import { defencesInUse } from './defences-in-use.ts';
import { defences } from '../postgres-store/defences.ts';

const ALL = defences.map(({ name }) => name);
const WITHOUT_TOKEN = defences.filter(({ needsToken }) => !needsToken).map(({ name }) => name);
const register = { name: 'guarded', summary: '', needsToken: true, judgedAs: 'fence-on-write' } as const;
const plain = { name: 'set-nx-px' };
const fenced = { name: 'fenced-incr', tokenSource: 'INCR' };
const counter = { name: 'counter' };

describe('the defences in use', () => {
  it('are all that the recipe has tokens for and the workload can use', () => {
    expect(defencesInUse({ defences: 'all' }, fenced, counter)).toEqual(ALL);
    expect(defencesInUse({ defences: 'all' }, plain, counter)).toEqual(WITHOUT_TOKEN);
    const two = { name: 'two', defences: ['version-cas', 'fence-on-write'] };
    expect(defencesInUse({ defences: 'all' }, plain, two)).toEqual(['version-cas']);
    expect(defencesInUse({ defences: 'all' }, fenced, { name: 'mutex', defences: [] })).toEqual([]);
  });

  it('have the register of the lock service beside them, unless workload or plan choose', () => {
    const guarded = { ...fenced, register };
    expect(defencesInUse({ defences: 'all' }, guarded, counter)).toEqual([...ALL, 'guarded']);
    expect(defencesInUse({ defences: 'all' }, guarded, { name: 'one', defences: ['none'] })).toEqual([
      'none',
    ]);
    expect(defencesInUse({ defences: ['none'] }, guarded, counter)).toEqual(['none']);
  });

  it('are those that the plan names, each once', () => {
    const plan = { defences: ['row-lock', 'none', 'row-lock'] };
    expect(defencesInUse(plan, plain, counter)).toEqual(['row-lock', 'none']);
  });

  it('are refused where they cannot be used, with the reason and what can', () => {
    expect(() => defencesInUse({ defences: ['fence-on-write'] }, plain, counter)).toThrow(
      'defence fence-on-write needs a token, and recipe set-nx-px has none',
    );
    expect(() => defencesInUse({ defences: ['none'] }, fenced, { name: 'mutex', defences: [] })).toThrow(
      'workload mutex cannot use defence none',
    );
  });
});
