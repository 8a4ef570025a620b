// How a cell is written: `backend[:variant]/recipe/fault[/workload]`. Light on purpose: `lockpick check` loads it.

import { DEFAULT_VARIANT } from '../contract/backend.ts';
import type { Plan } from './plan.ts';

/** The workload that a cell's name leaves out. */
export const DEFAULT_WORKLOAD = 'counter';

/** `backend`, or `backend:variant` where that is not the default one. */
export function backendName({ backend, variant }: Pick<Plan, 'backend' | 'variant'>): string {
  return variant === DEFAULT_VARIANT ? backend : `${backend}:${variant}`;
}

/** `backend[:variant]/recipe/fault`, and the workload where it is not the default one. */
export function cellName(plan: Pick<Plan, 'backend' | 'variant' | 'recipe' | 'fault' | 'workload'>): string {
  const { recipe, fault, workload } = plan;
  return [backendName(plan), recipe, fault, ...(workload === DEFAULT_WORKLOAD ? [] : [workload])].join('/');
}
