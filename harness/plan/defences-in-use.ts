// Which defences a run uses: those that the plan names, the workload can use, and the recipe has tokens for; and beside
// them a register of the lock service itself, if the recipe has one. Pure.

import { HarnessError } from '../contract/errors.ts';
import type { Recipe } from '../contract/lock-client.ts';
import type { Workload } from '../contract/workload.ts';
import type { Plan } from './plan.ts';
import { defences } from '../postgres-store/defences.ts';

/** Names. Throws HarnessError('usage') if the plan names one that cannot be used. */
export function defencesInUse(
  plan: Pick<Plan, 'defences'>,
  recipe: Pick<Recipe, 'name' | 'tokenSource' | 'register'>,
  workload: Pick<Workload, 'name' | 'defences'>,
): readonly string[] {
  const usable = defences
    .filter(({ needsToken }) => !needsToken || recipe.tokenSource !== undefined)
    .map(({ name }) => name)
    .filter((name) => workload.defences?.includes(name) ?? true);
  if (plan.defences === 'all')
    return recipe.register !== undefined && workload.defences === undefined
      ? [...usable, recipe.register.name]
      : usable;
  const useless = plan.defences.find((name) => !usable.includes(name));
  if (useless !== undefined)
    throw new HarnessError(
      'usage',
      workload.defences?.includes(useless) === false
        ? `workload ${workload.name} cannot use defence ${useless}`
        : `defence ${useless} needs a token, and recipe ${recipe.name} has none`,
      { remedy: usable.length > 0 ? `it can use ${usable.join(', ')}` : 'leave --defences out' },
    );
  return [...new Set(plan.defences)];
}
