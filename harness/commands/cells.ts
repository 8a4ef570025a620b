// Cell patterns on the command line: `backend[:variant][/recipe[/fault[/workload]]]`. `*` matches catalogued cells; a part that is
// left out takes the default, so `redis-single` is one run and `redis-single/*` is many.

import { catalogue, settingsOf, type CellNames } from '../catalogue.ts';
import type { Cell } from '../cells/cell.ts';
import { DEFAULT_VARIANT } from '../contract/backend.ts';
import { HarnessError } from '../contract/errors.ts';
import { backendName } from '../cell-name.ts';
import { known, PLAN_DEFAULTS, type PlanInput } from '../plan.ts';
import { vocabulary } from '../vocabulary.ts';

/** backend[:variant], recipe, fault, workload. */
const PARTS_MAX = 4;

function split(pattern: string): string[] {
  const parts = pattern.split('/');
  if (parts.length > PARTS_MAX || parts.some((part) => part === ''))
    throw new HarnessError('usage', `${JSON.stringify(pattern)} is not a cell`, {
      remedy: 'write backend[:variant][/recipe[/fault[/workload]]], e.g. redis-single/set-nx-px/pause-holder',
    });
  return parts;
}

/** The catalogued cells that match; parts left out match all. Throws HarnessError('usage') if none does. */
export function matchingCells(pattern: string): readonly Cell[] {
  const parts = split(pattern).map(
    (part) => new RegExp(`^${part.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`),
  );
  const cells = catalogue.filter((cell) => {
    const names = [backendName(cell), cell.recipe, cell.fault, cell.workload];
    return parts.every((part, index) => part.test(names[index] ?? ''));
  });
  if (cells.length > 0) return cells;
  throw new HarnessError('usage', `no catalogued cell matches ${JSON.stringify(pattern)}`, {
    remedy: 'see `lockpick list`',
  });
}

/**
 * The plans' names and settings that a pattern stands for: those of each matching cell if it has a `*`, else one whose
 * open parts the flags and defaults fill; that one need not be catalogued.
 */
export function planLayers(pattern: string, flags: PlanInput): readonly PlanInput[] {
  if (pattern.includes('*')) return matchingCells(pattern).map((cell) => layerOf(cell));
  const [served = '', recipe, fault, workload] = split(pattern);
  const [backend, variant] = served.split(':');
  const name = known(
    'backend',
    flags.backend ?? backend,
    vocabulary.backends.map((candidate) => candidate.name),
  );
  const firstRecipe = vocabulary.backends.find((candidate) => candidate.name === name)?.recipes[0]?.name;
  return [
    layerOf({
      backend: name,
      variant: textOf(flags.variant) ?? variant ?? DEFAULT_VARIANT,
      recipe: textOf(flags.recipe) ?? recipe ?? firstRecipe ?? '',
      fault: textOf(flags.fault) ?? fault ?? PLAN_DEFAULTS.fault,
      workload: textOf(flags.workload) ?? workload ?? PLAN_DEFAULTS.workload,
    }),
  ];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function layerOf(names: CellNames): PlanInput {
  const { backend, variant, recipe, fault, workload } = names;
  return { backend, variant, recipe, fault, workload, ...settingsOf(names) };
}
