// What theory expects of a plan: of a cell as it is catalogued all of it; with other settings what must occur is no longer
// proved, and what may not occur is as forbidden as before.

import { describe, expect, it } from 'vitest';
import type { Expectation } from '../../checkers/verdict.ts';
import { judge } from '../judge.ts';
import { simulate } from '../stages/simulated-run.ts';
import { catalogue, cellOf, settingsOf } from './catalogue.ts';
import { cellName } from './cell-name.ts';
import { parsePlan, type Plan, type PlanInput } from './plan.ts';
import { vocabulary } from './vocabulary.ts';

function planOf(name: string, chosen: PlanInput = {}): Plan {
  const [backend = '', recipe = '', fault = '', workload = 'counter'] = name.split('/');
  const names = { backend, variant: 'default', recipe, fault, workload };
  return parsePlan(vocabulary, names, settingsOf(names), { seed: '1', on: 'simulation', ...chosen });
}

function expectedOf(name: string, chosen: PlanInput = {}): Expectation | undefined {
  return cellOf(planOf(name, chosen))?.expected;
}

async function outcomeOf(name: string, chosen: PlanInput, expectation?: Expectation): Promise<string> {
  const { verdict, history } = await simulate(planOf(name, chosen));
  return expectation === undefined ? verdict.outcome : judge(history, expectation, () => 0).outcome;
}

describe('the expectation of a plan', () => {
  it('is that of its cell, with the settings of the cell', () => {
    for (const cell of catalogue) {
      const { backend, variant, recipe, fault, workload } = cell;
      const names = { backend, variant, recipe, fault, workload };
      const plan = parsePlan(vocabulary, names, settingsOf(names), { seed: '1' });
      expect(cellOf(plan)?.expected, cellName(cell)).toBe(cell.expected);
    }
  });

  it.each<[string, PlanInput, readonly string[] | undefined]>([
    ['another seed', { seed: '2' }, undefined],
    ['containers', { on: 'docker' }, undefined],
    ['a longer load', { timeLimitMillis: '1m' }, undefined],
    ['fewer hand-offs asked for', { minContendedHandoffs: 1 }, undefined],
    ['a shorter load', { timeLimitMillis: '2s' }, ['--time-limit 2s']],
    ['another lease and other clients', { ttlMillis: '3s', clients: 2 }, ['--ttl 3s', '--clients 2']],
    ['other work', { thinkMillis: '0..1ms' }, ['--think 0ms..1ms']],
    ['fewer locks', { locks: 1 }, ['--locks 1']],
    ['some defences', { defences: ['none'] }, ['--defences none']],
  ])('of %s says what is changed', (_, chosen, changed) => {
    expect(expectedOf('redis-single/set-nx-px/pause-holder', chosen)?.changed).toEqual(changed);
  });

  it('asks for no harm in a store that is not there, and allows it still', () => {
    const name = 'redis-single/fenced-incr/pause-holder/inventory';
    expect(expectedOf(name)).toMatchObject({ findings: ['belief-overlap', 'oversold'] });
    const asked = expectedOf(name, { defences: ['version-cas'] });
    expect(asked).toMatchObject({ findings: ['belief-overlap'], stores: {} });
    expect(asked?.allowed).toContain('oversold');
    expect(expectedOf(name, { defences: ['none'] })).toMatchObject({
      findings: ['belief-overlap', 'oversold'],
      stores: { none: ['oversold'] },
    });
  });

  it('that a stopped client outlives its lease allows that it is given one that has run out', () => {
    const outlive = catalogue.filter(
      ({ fault, expected }) => fault === 'pause-holder' && expected.findings.includes('belief-overlap'),
    );
    expect(outlive.length).toBeGreaterThan(20);
    for (const cell of outlive) expect([cellName(cell), ...cell.expected.allowed]).toContain('expired-grant');
  });

  it('is none of work that makes another experiment of it', () => {
    expect(expectedOf('redis-single/set-nx-px/none', { thinkMillis: '2s' })).toBeUndefined();
  });
});

describe('a run with other settings', () => {
  it('that lacks what must occur is inconclusive, and a violation only of the cell itself', async () => {
    const name = 'redis-single/set-nx-px/pause-holder';
    expect(await outcomeOf(name, {})).toBe('ok');
    // Nobody is there to be given the lock meanwhile.
    expect(await outcomeOf(name, { clients: 1 })).toBe('inconclusive');
    expect(await outcomeOf(name, { clients: 1 }, expectedOf(name))).toBe('violation');
    expect(await outcomeOf(name, { clients: 4 })).toBe('ok');
  });

  it('that shows what may not occur is a violation', async () => {
    const right = 'redis-single/fenced-incr/pause-holder';
    const wrong = 'redis-single/del-unconditional/pause-holder';
    const settings = { ttlMillis: '900ms', timeLimitMillis: '10s' };
    expect(await outcomeOf(right, settings, expectedOf(right, settings))).toBe('ok');
    expect(await outcomeOf(wrong, settings, expectedOf(right, settings))).toBe('violation');
  });
});
