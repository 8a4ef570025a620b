// `lockpick list`: what `run` would run of the same words, or `compare` with a profile, and how long it takes: cells with
// their servers and recipe, what theory expects of them, and why. If nothing says what runs, all there is.

import { recipeOf } from '../settings/adapters.ts';
import { backends } from '../backends/index.ts';
import { cellOf } from '../plan/catalogue.ts';
import { cellName } from '../plan/cell-name.ts';
import { expectedWords } from '../plan/cells/cell.ts';
import { EXIT_CODE } from '../contract/errors.ts';
import type { Plan } from '../plan/plan.ts';
import type { Choices } from '../settings/settings.ts';
import { profileOf, whatRuns } from './run.ts';

/** Seconds that a run takes beside its load, on two busy cores with images present (`node bench/run-cost.ts`). */
const OVERHEAD_SECONDS = 9;

/** Seconds of load that one processor simulates in a second, over all catalogued cells (`simulated-cells.sweep.test.ts`). */
const SIMULATED_SPEED = 50;

/** What says which cells run, besides patterns and a profile. */
const NAMING = ['cells', 'adapter', 'schedule', 'backend', 'variant', 'recipe', 'fault', 'workload'];

export async function listCommand(patterns: readonly string[], chosen: Choices): Promise<number> {
  // That of the config is for `compare`.
  const profile = chosen.get('profile')?.from === 'config' ? undefined : profileOf(chosen);
  const isOpen = patterns.length === 0 && profile === undefined && !NAMING.some((name) => chosen.has(name));
  const { comparison, choices } = await whatRuns(isOpen ? ['*'] : patterns, chosen, profile);
  const { plans } = comparison;
  const rows = await Promise.all(
    [...Map.groupBy(plans, (plan) => cellName(plan)).values()].flatMap(([plan, ...more]) =>
      plan === undefined ? [] : [rowOf(plan, more.length + 1)],
    ),
  );
  if (choices.has('json')) {
    process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return EXIT_CODE.ok;
  }
  for (const row of rows) {
    const expected =
      row.expected === null
        ? 'nothing: the cell is not catalogued'
        : `${expectedWords(row.expected)}; ${row.because}`;
    process.stdout.write(
      `${row.cell}\n` +
        `  servers:  ${row.topology}\n` +
        `  expected: ${expected}\n` +
        `  recipe:   ${row.recipe}${row.flaw === null ? '' : `; wrong on purpose: ${row.flaw}`}\n` +
        `  token:    ${row.tokenSource ?? 'none'}\n` +
        `  time:     ${row.seeds === 1 ? '' : `${row.seeds} seeds of `}${aboutTime(row.estimatedSeconds)}\n`,
    );
  }
  const seconds = rows.reduce((sum, row) => sum + row.seeds * row.estimatedSeconds, 0);
  process.stdout.write(`cells: ${rows.length}, runs: ${plans.length}, time: ${aboutTime(seconds)}\n`);
  return EXIT_CODE.ok;
}

async function rowOf(plan: Plan, seeds: number) {
  const backend = backends.find(({ name }) => name === plan.backend);
  const variant = backend?.variants?.find(({ name }) => name === plan.variant);
  const recipe = await recipeOf(plan);
  const cell = cellOf(plan);
  return {
    cell: cellName(plan),
    topology: variant?.summary ?? backend?.topology,
    recipe: recipe?.summary,
    tokenSource: recipe?.tokenSource ?? null,
    flaw: recipe?.flaw ?? null,
    expected: cell?.expected ?? null,
    because: cell?.because ?? null,
    settings: cell?.settings ?? {},
    seeds,
    estimatedSeconds: secondsOf(plan),
  };
}

function secondsOf({ on, timeLimitMillis }: Plan): number {
  const load = timeLimitMillis / 1000;
  return on === 'simulation' ? load / SIMULATED_SPEED : Math.round(load + OVERHEAD_SECONDS);
}

/** `less than 0.1 s`, `about 0.4 s`, `about 95 s`, `about 3 min`, `about 2 h 05 min` */
function aboutTime(seconds: number): string {
  if (seconds < 0.1) return 'less than 0.1 s';
  if (seconds < 10) return `about ${Math.round(seconds * 10) / 10} s`;
  if (seconds < 120) return `about ${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60
    ? `about ${minutes} min`
    : `about ${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}
