// `lockpick list`: the catalogued cells, their topology and recipe, what theory expects of them, and why.

import { catalogue } from '../catalogue.ts';
import { backends } from '../backends/index.ts';
import { cellName } from '../cell-name.ts';
import { PLAN_DEFAULTS } from '../plan.ts';
import { parseDuration } from '../duration.ts';
import { EXIT_CODE } from '../contract/errors.ts';
import { matchingCells } from './cells.ts';

/** Seconds that a run takes beside its load, on two busy cores with images present (`node bench/run-cost.ts`). */
const OVERHEAD_SECONDS = 9;

export function listCommand(patterns: readonly string[], flags: { json?: boolean }): number {
  const cells = patterns.length === 0 ? catalogue : patterns.flatMap((pattern) => matchingCells(pattern));
  const rows = cells.map((cell) => {
    const backend = backends.find(({ name }) => name === cell.backend);
    const variant = backend?.variants?.find(({ name }) => name === cell.variant);
    const recipe = backend?.recipes.find(({ name }) => name === cell.recipe);
    const loadMillis = parseDuration(PLAN_DEFAULTS.timeLimitMillis) ?? 0;
    return {
      cell: cellName(cell),
      topology: variant?.summary ?? backend?.topology,
      recipe: recipe?.summary,
      tokenSource: recipe?.tokenSource ?? null,
      flaw: recipe?.flaw ?? null,
      expected: cell.expected,
      because: cell.because,
      settings: cell.settings,
      estimatedSeconds: loadMillis / 1000 + OVERHEAD_SECONDS,
    };
  });
  if (flags.json === true) {
    process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return EXIT_CODE.ok;
  }
  for (const row of rows) {
    const codes = [...row.expected.findings, ...row.expected.liveness].join(', ');
    process.stdout.write(
      `${row.cell}\n` +
        `  servers:  ${row.topology}\n` +
        `  expected: ${row.expected.grade}${codes === '' ? '' : ` (${codes})`}, ${row.because}\n` +
        `  recipe:   ${row.recipe}${row.flaw === null ? '' : `; wrong on purpose: ${row.flaw}`}\n` +
        `  token:    ${row.tokenSource ?? 'none'}\n`,
    );
  }
  process.stdout.write(`${rows.length} cells, about ${rows[0]?.estimatedSeconds ?? 0} s each\n`);
  return EXIT_CODE.ok;
}
