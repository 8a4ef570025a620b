// Right recipes under every fault at random: some seeds of what `bench/simulated-seeds.ts` runs by the thousand.

import { expect, it } from 'vitest';
import { replayCommand } from '../stored/stored-run.ts';
import { simulate } from '../stages/simulated-run.ts';
import { brokenPromises, rightCells, swarmPlan } from './swarm-seeds.ts';

const TIME = 60_000;

it.each(rightCells.map((cell) => ({ name: `${cell.backend}/${cell.recipe}`, cell })))(
  '$name keeps what theory promises of it',
  async ({ cell }) => {
    for (const seed of ['1', '2']) {
      const plan = swarmPlan(cell, seed, '3s');
      const run = await simulate(plan);
      const broken = brokenPromises(cell, run).map(({ story }) => story);
      expect(broken, replayCommand(plan)).toEqual([]);
      expect(run.verdict.power.faults.acted).toBeGreaterThan(0);
    }
  },
  TIME,
);
