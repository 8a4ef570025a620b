// Whether the recipe makes the kind of lock that the workload's script and the plan ask for. Who may have a lock alone can
// do so with one that others could share or enter again, and not with a semaphore, which lets several in. Pure.

import { HarnessError } from '../contract/errors.ts';
import type { Recipe } from '../contract/lock-client.ts';
import type { Workload } from '../contract/workload.ts';
import type { Plan } from './plan.ts';

/** Throws HarnessError('usage') if it does not; `workloads` are those to choose from instead. */
export function checkFit(
  recipe: Pick<Recipe, 'name' | 'kind'>,
  workload: Pick<Workload, 'name' | 'kind'>,
  workloads: readonly Pick<Workload, 'name' | 'kind'>[],
): void {
  if (fits(recipe, workload)) return;
  const { kind = 'mutex' } = recipe;
  const fitting = workloads.filter((other) => fits(recipe, other)).map(({ name }) => name);
  throw new HarnessError(
    'usage',
    `workload ${workload.name} asks for a ${workload.kind ?? 'lock that one client has alone'}` +
      `${workload.kind === undefined ? '' : ' lock'}, and recipe ${recipe.name} makes a ${kind}`,
    { remedy: `with this recipe: --workload ${fitting.join(', ')}` },
  );
}

/** Throws HarnessError('usage') if the plan says how many permits a lock has that has none. */
export function checkPermits(
  { name, kind }: Pick<Recipe, 'name' | 'kind'>,
  { permits }: Pick<Plan, 'permits'>,
): void {
  if (permits === undefined || kind === 'semaphore') return;
  throw new HarnessError('usage', `permits ${permits}: recipe ${name} makes a ${kind ?? 'mutex'}`, {
    remedy: 'only a semaphore has permits: leave it out, or choose another recipe (lockpick list)',
  });
}

function fits({ kind: made }: Pick<Recipe, 'kind'>, { kind: asked }: Pick<Workload, 'kind'>): boolean {
  return asked === undefined ? made !== 'semaphore' : made === asked;
}
