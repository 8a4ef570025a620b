// What is shown of a comparison of which not everything can be: surprises first, then each cell once, the telling ones and
// as many locks as possible before the rest.

import { expect, it } from 'vitest';
import { cellName } from '../plan/cell-name.ts';
import { runDirectory } from '../stored/results.ts';
import type { Unit } from './comparison.ts';
import { planOf, SURROUNDINGS, verdictOf } from './made-up-runs.fixture.ts';
import { mostTellingFirst } from './most-telling.ts';

function unit(cell: string, seed: string, outcome: 'ok' | 'violation' | 'inconclusive' = 'ok'): Unit {
  const plan = planOf(cell, seed);
  const run = {
    plan,
    directory: runDirectory('x'),
    surroundings: SURROUNDINGS,
    verdict: verdictOf({ outcome }),
  };
  return { plan, run };
}

it('is in this order', () => {
  const units = [
    unit('redis-single/set-nx-px/kill-holder', '1'),
    unit('redis-single/set-nx-px/kill-holder', '2'),
    unit('redis-single/set-nx-px/none', '1'),
    unit('redis-single/watchdog/none', '1'),
    unit('redis-single/watchdog/none', '2', 'inconclusive'),
    unit('redis-single/watchdog/none', '3', 'violation'),
    unit('redis-single/fenced-incr/pause-holder', '1'),
    { plan: planOf('redis-single/fenced-incr/none', '1'), run: undefined },
  ];
  expect(mostTellingFirst(units).map(({ plan }) => `${cellName(plan)} ${plan.seed}`)).toEqual([
    'redis-single/watchdog/none 3',
    'redis-single/watchdog/none 2',
    'redis-single/fenced-incr/pause-holder 1',
    'redis-single/set-nx-px/kill-holder 1',
    'redis-single/watchdog/none 1',
    'redis-single/set-nx-px/none 1',
    'redis-single/set-nx-px/kill-holder 2',
  ]);
});
