// Cell patterns on the command line: `backend[:variant][/recipe[/fault[/workload]]]`. `*` matches catalogued cells; a part that is
// left out takes the default, so `redis-single` is one run and `redis-single/*` is many.

import { catalogue, type Cell } from '../catalogue.ts';
import { DEFAULT_VARIANT } from '../contract/backend.ts';
import { HarnessError } from '../contract/errors.ts';
import { backendName, known, PLAN_DEFAULTS, type PlanInput } from '../plan.ts';
import { vocabulary } from '../vocabulary.ts';

const PARTS = ['backend', 'variant', 'recipe', 'fault', 'workload'] as const;
/** A pattern has no part of its own for the variant. */
const PARTS_MAX = PARTS.length - 1;

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
 * The plan layers that a pattern stands for: one for each matching cell if it has a `*`, else one whose open parts
 * the defaults and flags fill. A fault or workload of its own without catalogue entry is allowed.
 */
export function planLayers(pattern: string, flags: PlanInput): readonly PlanInput[] {
  if (pattern.includes('*')) return matchingCells(pattern).map((cell) => layerOf(cell));
  const [served = '', recipe, fault, workload] = split(pattern);
  const [backend, variant] = served.split(':');
  const name = {
    backend: flags.backend ?? backend,
    variant: flags.variant ?? variant ?? DEFAULT_VARIANT,
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

function layerOf({ backend, variant, recipe, fault, workload, settings }: Cell): PlanInput {
  return { backend, variant, recipe, fault, workload, ...settings };
}
