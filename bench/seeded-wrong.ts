// Does simulation find what is wrong on purpose, and how small can it be made? Each recipe with a flaw runs in its catalogued
// cells until the verdict is what theory expects, and under `swarm` until it shows what its cells show; that run is shrunk.
// Usage: node bench/seeded-wrong.ts [seeds, 50] [part of a recipe's name]

import type { FindingCode } from '../checkers/verdict.ts';
import { backends } from '../harness/backends/index.ts';
import { catalogue, settingsOf } from '../harness/plan/catalogue.ts';
import type { Cell } from '../harness/plan/cells/cell.ts';
import { parsePlan, type Plan } from '../harness/plan/plan.ts';
import { vocabulary } from '../harness/plan/vocabulary.ts';
import { scheduleAsRecorded } from '../harness/nemesis/recorded-schedule.ts';
import { scenarioNamed } from '../harness/nemesis/schedule.ts';
import { scheduleSchema } from '../harness/plan/schedule-format.ts';
import { shrinkPlan, withSchedule } from '../harness/shrinking/shrink-plan.ts';
import { firstThatShows } from '../harness/shrinking/smallest-part.ts';
import { refusal } from '../harness/stages/on-simulation.ts';
import { simulate, type SimulatedRun } from '../harness/stages/simulated-run.ts';

const [seeds = '50', only = ''] = process.argv.slice(2);
const seedNumbers = Array.from({ length: Number(seeds) }, (_, index) => index + 1);
const FEW = 5;

/** The first seed whose run is like that. */
async function firstSeed(
  planOf: (seed: string) => Plan,
  is: (run: SimulatedRun) => boolean,
): Promise<{ readonly seed: number; readonly plan: Plan; readonly run: SimulatedRun } | undefined> {
  for (const seed of seedNumbers) {
    const plan = planOf(String(seed));
    const run = await simulate(plan);
    if (is(run)) return { seed, plan, run };
  }
  return undefined;
}

function codesOf({ verdict }: SimulatedRun): readonly FindingCode[] {
  return [...verdict.findings, ...verdict.liveness].map(({ code }) => code);
}

function count({ schedule }: Plan): number {
  return schedule?.steps.length ?? 0;
}

/** How many faults are left. */
async function faultsLeft(plan: Plan, run: SimulatedRun, code: FindingCode): Promise<string> {
  let tries = 0;
  const shows = async (candidate: Plan): Promise<boolean> => {
    tries += 1;
    return codesOf(await simulate(candidate)).includes(code);
  };
  // As `lockpick shrink` does it: where and when the faults happened, or else as they were planned.
  const recorded = scheduleAsRecorded(run.history, plan.timeLimitMillis);
  const planned = scheduleSchema.parse(run.history.header.meta['schedule']);
  const whole = await firstThatShows(
    [recorded, planned].map((schedule) => withSchedule(plan, schedule)),
    shows,
  );
  if (whole === undefined) return 'NOT SHOWN AGAIN';
  const smallest = await shrinkPlan(whole, { shows, defences: ['none'], onSmaller: () => undefined });
  if (count(smallest) <= FEW) few += 1;
  shrunk += 1;
  return `${count(whole)} → ${count(smallest)} faults, ${plan.clients} → ${smallest.clients} clients, ${plan.timeLimitMillis / 1000} → ${smallest.timeLimitMillis / 1000} s in ${tries} tries`;
}

let few = 0;
let shrunk = 0;
let caught = 0;
let cells = 0;
const isWrong = (cell: Cell): boolean =>
  cell.recipe.includes(only) &&
  backends
    .find(({ name }) => name === cell.backend)
    ?.recipes.some(({ name, flaw }) => name === cell.recipe && flaw !== undefined) === true &&
  refusal({ ...cell, on: 'simulation' }, scenarioNamed(cell.fault)?.faults ?? []) === undefined;
const broken = catalogue.filter(
  (cell) =>
    isWrong(cell) &&
    [...cell.expected.findings, ...cell.expected.oneOf, ...cell.expected.liveness].length > 0,
);
for (const [recipe, of] of Map.groupBy(broken, (cell) => `${cell.backend}/${cell.recipe}`)) {
  const shows = new Set<FindingCode>();
  for (const cell of of) {
    const { backend, variant, fault, workload, expected } = cell;
    const names = { backend, variant, recipe: cell.recipe, fault, workload };
    for (const code of [...expected.findings, ...expected.liveness]) shows.add(code);
    const found = await firstSeed(
      (seed) => parsePlan(vocabulary, names, settingsOf(names), { seed, on: 'simulation' }),
      ({ verdict }) => verdict.asExpected,
    );
    cells += 1;
    if (found !== undefined) caught += 1;
    process.stdout.write(
      `${recipe}/${fault}: ${found === undefined ? 'NOT CAUGHT' : `seed ${found.seed}`}\n`,
    );
  }
  const [first] = of;
  if (first === undefined || shows.size === 0) continue;
  const { backend, variant, workload } = first;
  const names = { backend, variant, recipe: first.recipe, workload, fault: 'swarm' };
  const found = await firstSeed(
    (seed) => parsePlan(vocabulary, settingsOf(first), names, { seed, on: 'simulation' }),
    (run) => codesOf(run).some((code) => shows.has(code)),
  );
  const code = found && codesOf(found.run).find((each) => shows.has(each));
  process.stdout.write(
    `${recipe}/swarm: ${found === undefined || code === undefined ? `none of ${[...shows].join(', ')}` : `seed ${found.seed}, ${code}, ${await faultsLeft(found.plan, found.run, code)}`}\n`,
  );
}
process.stdout.write(
  `caught within ${seeds} seeds: ${caught} of ${cells} cells; at most ${FEW} faults left: ${few} of ${shrunk}\n`,
);
