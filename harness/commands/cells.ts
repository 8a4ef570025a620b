// Cell patterns on the command line: `backend[/recipe[/fault[/workload]]]`. `*` matches catalogued cells; a part that is
// left out takes the default, so `redis-single` is one run and `redis-single/*` is many.

import { catalogue, type Cell } from '../catalogue.ts';
import { HarnessError } from '../contract/errors.ts';
import { known, PLAN_DEFAULTS, type PlanInput } from '../plan.ts';
import { vocabulary } from '../vocabulary.ts';

const PARTS = ['backend', 'recipe', 'fault', 'workload'] as const;

function split(pattern: string): string[] {
  const parts = pattern.split('/');
  if (parts.length > PARTS.length || parts.some((part) => part === ''))
    throw new HarnessError('usage', `${JSON.stringify(pattern)} is not a cell`, {
      remedy: 'write backend[/recipe[/fault[/workload]]], e.g. redis-single/set-nx-px/pause-holder',
    });
  return parts;
}

/** The catalogued cells that match; parts left out match all. Throws HarnessError('usage') if none does. */
export function matchingCells(pattern: string): readonly Cell[] {
  const parts = split(pattern).map(
    (part) => new RegExp(`^${part.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`),
  );
  const cells = catalogue.filter((cell) =>
    PARTS.every((part, index) => parts[index]?.test(cell[part]) ?? true),
  );
  if (cells.length > 0) return cells;
  throw new HarnessError('usage', `no catalogued cell matches ${JSON.stringify(pattern)}`, {
    remedy: 'see `lockpick list`',
  });
}

/**
 * The plan layers that a pattern stands for: one for each matching cell if it has a `*`, else one whose open parts
 * the defaults and flags fill. A fault or workload of its own without catalogue entry is allowed.
 */
export function planLayers(pattern: string, flags: PlanInput): readonly PlanInput[] {
  if (pattern.includes('*')) return matchingCells(pattern).map((cell) => layerOf(cell));
  const [backend, recipe, fault, workload] = split(pattern);
  const name = {
    backend: flags.backend ?? backend,
    recipe: flags.recipe ?? recipe,
    fault: flags.fault ?? fault ?? PLAN_DEFAULTS.fault,
    workload: flags.workload ?? workload ?? PLAN_DEFAULTS.workload,
  };
  const recipes = vocabulary.backends.find((candidate) => candidate.name === name.backend)?.recipes;
  known(
    'backend',
    name.backend,
    vocabulary.backends.map((candidate) => candidate.name),
  );
  name.recipe ??= recipes?.[0]?.name;
  const cell = catalogue.find((candidate) => PARTS.every((part) => candidate[part] === name[part]));
  return [cell === undefined ? name : layerOf(cell)];
}

function layerOf({ backend, recipe, fault, workload, settings }: Cell): PlanInput {
  return { backend, recipe, fault, workload, ...settings };
}
