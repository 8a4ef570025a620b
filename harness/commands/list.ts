// `lockpick list`: what would run and how long it takes: cells with their servers and recipe, what theory expects of
// them, and why.

import { loadAdapters, recipeOf, type LoadedAdapter } from '../settings/adapters.ts';
import { backends } from '../backends/index.ts';
import { cellOf } from '../plan/catalogue.ts';
import { cellName } from '../plan/cell-name.ts';
import { expectedWords } from '../plan/cells/cell.ts';
import { PROFILE_NAMES } from '../plan/choices.ts';
import { EXIT_CODE } from '../contract/errors.ts';
import type { Plan } from '../plan/plan.ts';
import { listChoice, textChoice, type Choices } from '../settings/settings.ts';
import { anyMatches } from './cells.ts';
import { comparisonOf } from './run.ts';

/** Seconds that a run takes beside its load, on two busy cores with images present (`node bench/run-cost.ts`). */
const OVERHEAD_SECONDS = 9;

export async function listCommand(patterns: readonly string[], choices: Choices): Promise<number> {
  const profile = PROFILE_NAMES.find((name) => name === textChoice(choices, 'profile'));
  const all = profile === undefined && !choices.has('adapter') ? ['*'] : [];
  const adapters = await loadAdapters(listChoice(choices, 'adapter'));
  const { plans } = await comparisonOf(
    patterns.length === 0 ? all : patterns.map((pattern) => withAllBelow(pattern, adapters)),
    choices,
    profile,
  );
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
        `  time:     ${row.seeds === 1 ? '' : `${row.seeds} seeds of `}about ${row.estimatedSeconds} s\n`,
    );
  }
  const seconds = rows.reduce((sum, row) => sum + row.seeds * row.estimatedSeconds, 0);
  process.stdout.write(`cells: ${rows.length}, runs: ${plans.length}, time: about ${timeText(seconds)}\n`);
  return EXIT_CODE.ok;
}

/** A part that is left out matches all; a cell that is composed of known parts, and not catalogued, is one. */
function withAllBelow(pattern: string, adapters: readonly LoadedAdapter[]): string {
  const below = `${pattern}/*`;
  return !pattern.includes('*') && anyMatches(below, adapters) ? below : pattern;
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
    estimatedSeconds: Math.round(plan.timeLimitMillis / 1000 + OVERHEAD_SECONDS),
  };
}

/** `95 s`, `3 min`, `2 h 05 min` */
function timeText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60
    ? `${minutes} min`
    : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}
