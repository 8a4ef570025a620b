// Cell patterns on the command line: `backend[:variant][/recipe[/fault[/workload]]]`. `*` matches catalogued cells, and
// for a user's own recipe the faults that are catalogued for its servers; a part that is left out takes the default, so
// `redis-single` is one run and `redis-single/*` is many.

import type { LoadedAdapter } from '../settings/adapters.ts';
import { catalogue, settingsOf, type CellNames } from '../plan/catalogue.ts';
import { DEFAULT_VARIANT } from '../contract/backend.ts';
import { HarnessError } from '../contract/errors.ts';
import { backendName, cellName, DEFAULT_WORKLOAD } from '../plan/cell-name.ts';
import { known, PLAN_DEFAULTS, type PlanInput } from '../plan/plan.ts';
import { vocabulary } from '../plan/vocabulary.ts';

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

/**
 * The cells that match, catalogued or of adapters, of each lock in the order of the scenarios; parts left out match all.
 * Throws HarnessError('usage') if none does.
 */
function matchingCells(pattern: string, adapters: readonly LoadedAdapter[] = []): readonly CellNames[] {
  const matches = matcherOf(split(pattern));
  const cells = [...catalogue, ...adapters.flatMap(cellsOfAdapter)].filter(matches);
  if (cells.length > 0) return byLock(cells);
  throw new HarnessError('usage', `no catalogued cell matches ${JSON.stringify(pattern)}`, {
    remedy: 'see `lockpick list`',
  });
}

/** Of one backend together, and of each of its locks. */
function byLock(cells: readonly CellNames[]): readonly CellNames[] {
  return [...Map.groupBy(cells, ({ backend }) => backend).values()]
    .flatMap((ofBackend) => [...Map.groupBy(ofBackend, lockOf).values()])
    .flatMap((ofLock) => ofLock.toSorted((a, b) => placeOf(a) - placeOf(b)));
}

function lockOf(cell: CellNames): string {
  return `${backendName(cell)}/${cell.recipe}`;
}

function placeOf({ fault }: CellNames): number {
  return vocabulary.scenarios.indexOf(fault);
}

function matcherOf(parts: readonly string[]): (cell: CellNames) => boolean {
  const wanted = parts.map(
    (part) => new RegExp(`^${part.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`),
  );
  return (cell) => {
    const names = [backendName(cell), cell.recipe, cell.fault, cell.workload];
    return wanted.every((part, index) => part.test(names[index] ?? ''));
  };
}

/** Each fault that is catalogued for the adapter's servers, once. */
function cellsOfAdapter({ adapter: { backend, name } }: LoadedAdapter): readonly CellNames[] {
  const faults = catalogue
    .filter((cell) => cell.backend === backend && cell.variant === DEFAULT_VARIANT)
    .map(({ fault }) => fault);
  return [...new Set(faults)].map((fault) => ({
    backend,
    variant: DEFAULT_VARIANT,
    recipe: name,
    fault,
    workload: DEFAULT_WORKLOAD,
  }));
}

/** What names a cell besides its pattern. */
export interface Naming {
  /** By flags: these win over the pattern. */
  readonly flags: PlanInput;
  /** By environment or config: for what the pattern leaves open. */
  readonly ambient: PlanInput;
  readonly adapters: readonly LoadedAdapter[];
}

/**
 * The plans' names and settings that a pattern stands for: those of each matching cell if it has a `*`, of which flags
 * choose some; else one whose open parts are filled in; that one need not be catalogued.
 */
export function planLayers(pattern: string, { flags, ambient, adapters }: Naming): readonly PlanInput[] {
  if (pattern.includes('*')) {
    const cells = matchingCells(pattern, adapters).filter((cell) =>
      NAMES.every((name) => flags[name] === undefined || flags[name] === cell[name]),
    );
    if (cells.length > 0) return cells.map((cell) => layerOf(cell, adapters));
    throw new HarnessError(
      'usage',
      `no cell of ${JSON.stringify(pattern)} is left by the flags that name parts of it`,
      {
        remedy: `it has ${matchingCells(pattern, adapters).map(cellName).slice(0, 3).join(', ')}, …`,
      },
    );
  }
  const [served = '', recipe, fault, workload] = split(pattern);
  const [backend, variant] = served.split(':');
  const open: PlanInput = { ...ambient, ...flags };
  const name = known(
    'backend',
    flags.backend ?? backend,
    vocabulary.backends.map((candidate) => candidate.name),
  );
  const own = adapters.find(({ adapter }) => adapter.backend === name)?.adapter.name;
  const firstRecipe = vocabulary.backends.find((candidate) => candidate.name === name)?.recipes[0]?.name;
  return [
    layerOf(
      {
        backend: name,
        variant: textOf(flags.variant) ?? variant ?? textOf(open.variant) ?? DEFAULT_VARIANT,
        recipe: textOf(flags.recipe) ?? recipe ?? textOf(open.recipe) ?? own ?? firstRecipe ?? '',
        fault: textOf(flags.fault) ?? fault ?? textOf(open.fault) ?? PLAN_DEFAULTS.fault,
        workload: textOf(flags.workload) ?? workload ?? textOf(open.workload) ?? PLAN_DEFAULTS.workload,
      },
      adapters,
    ),
  ];
}

const NAMES = ['backend', 'variant', 'recipe', 'fault', 'workload'] as const;

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function layerOf(names: CellNames, adapters: readonly LoadedAdapter[]): PlanInput {
  const { backend, variant, recipe, fault, workload } = names;
  const own = adapters.find(({ adapter }) => adapter.backend === backend && adapter.name === recipe);
  const expect = own?.adapter.expected?.[fault];
  return {
    backend,
    variant,
    recipe,
    fault,
    workload,
    ...settingsOf(names),
    ...(own !== undefined && { adapter: own.path }),
    ...(expect !== undefined && { expect }),
  };
}
