// Which workloads go with which kind of lock, and what is said where they do not.

import { describe, expect, it } from 'vitest';
import { backends } from '../backends/index.ts';
import { catalogue } from './catalogue.ts';
import { checkFit, checkPermits } from './workload-fit.ts';
import { workloads } from '../../workloads/index.ts';

const counter = { name: 'counter' };
const permits = { name: 'permits', kind: 'semaphore' } as const;
const both = [counter, permits];

describe('a workload and a recipe', () => {
  it('go together if the kinds are the same, or one holder is enough', () => {
    expect(() => checkFit({ name: 'semaphore', kind: 'semaphore' }, permits, both)).not.toThrow();
    expect(() => checkFit({ name: 'set-nx-px' }, counter, both)).not.toThrow();
    expect(() => checkFit({ name: 'reentrant', kind: 'reentrant' }, counter, both)).not.toThrow();
  });

  it('do not if others may hold the lock too, or the script asks for what the lock cannot do', () => {
    expect(() => checkFit({ name: 'semaphore', kind: 'semaphore' }, counter, both)).toThrow(
      'workload counter asks for a lock that one client has alone, and recipe semaphore makes a semaphore',
    );
    expect(() => checkFit({ name: 'set-nx-px' }, permits, both)).toThrow(
      'workload permits asks for a semaphore lock, and recipe set-nx-px makes a mutex',
    );
  });

  it('fit if the plan has permits for a semaphore, and for nothing else', () => {
    expect(() => checkPermits({ name: 'semaphore', kind: 'semaphore' }, { permits: 3 })).not.toThrow();
    expect(() => checkPermits({ name: 'set-nx-px' }, {})).not.toThrow();
    expect(() => checkPermits({ name: 'set-nx-px' }, { permits: 3 })).toThrow(
      'permits 3: recipe set-nx-px makes a mutex',
    );
  });

  it('fit in every catalogued cell', () => {
    for (const { backend, recipe, workload } of catalogue) {
      const made = backends.find(({ name }) => name === backend)?.recipes.find(({ name }) => name === recipe);
      const asked = workloads.find(({ name }) => name === workload);
      if (made === undefined || asked === undefined) throw new Error(`${backend}/${recipe}/${workload}`);
      expect(() => checkFit(made, asked, workloads)).not.toThrow();
    }
  });
});
