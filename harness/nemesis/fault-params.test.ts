// Parameters of faults: what every scenario asks for is allowed, what no fault could do is not.

import { describe, expect, it } from 'vitest';
import { millis } from '../history/op.ts';
import { wrongParam } from './fault-params.ts';
import { scenarios, scheduleOf } from './schedule.ts';
import type { ScheduleBasis } from './timing.ts';

const basis: ScheduleBasis = {
  timeLimitMillis: millis(60_000),
  ttlMillis: millis(1000),
  thinkMillis: { min: millis(30), max: millis(80) },
  commandTimeLimitMillis: millis(500),
  service: { servers: 5, leads: true, promotes: true, startsEmpty: true, notApplicable: [] },
};
const nodes = ['r1', 'r2', 'c1', 'store'];

describe('the parameters of a fault', () => {
  it.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    'of %s are in order',
    (_, scenario) => {
      for (const seed of ['1', '2', '3', '4', '5'])
        for (const { spec } of scheduleOf(scenario, basis, seed).steps)
          expect(wrongParam(spec.fault, spec.params ?? {}, nodes)).toBeUndefined();
    },
  );

  it.each([
    ['partition', { from: ['r1', 'store'], way: 'in', shape: 'sides', turn: 2 }],
    ['cpu-starve', {}],
    ['pause', { freezer: true }],
  ])('of %s may be %j', (fault, params) => {
    expect(wrongParam(fault, params, nodes)).toBeUndefined();
  });

  it.each([
    ['partition', { from: 'mars' }, 'from', 'must be one of servers, clients'],
    ['partition', { from: ['r9'] }, 'from', 'or a list of names of nodes'],
    ['partition', { from: [] }, 'from', 'or a list of names of nodes'],
    ['partition', { turn: -1 }, 'turn', 'must be a whole number from 0'],
    ['partition', { way: null }, 'way', 'must be one of both, in, out'],
    ['loss', { percent: 101 }, 'percent', 'from 0 to 100'],
    ['rate', { kilobitPerSecond: '9' }, 'kilobitPerSecond', 'must be a number above 0'],
    ['clock-jump', {}, 'byMillis', 'is missing'],
    ['clock-jump', { offsetMillis: 5 }, 'offsetMillis', 'no parameter of clock-jump; it has byMillis'],
    ['clock-jump', { byMillis: 0 }, 'byMillis', 'must be a number other than 0'],
    ['cpu-starve', { share: 2 }, 'share', 'not above 1'],
    ['kill', { hard: true }, 'hard', 'no parameter of kill; it has none'],
    ['pause', { constructor: 1 }, 'constructor', 'no parameter of pause'],
  ])('of %s may not be %j', (fault, params, name, reason) => {
    expect(wrongParam(fault, params, nodes)).toEqual({ name, reason: expect.stringContaining(reason) });
  });
});
