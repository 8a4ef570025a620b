// The cells that lockpick knows: backend × recipe × fault × workload, with what theory expects of each and why (5.2 of
// the design). A cell that theory calls unsafe and a run does not show to be is itself a failure (2.4).

import { ofGrade, type Cell, type CellOfBackend } from './cells/cell.ts';
import { etcdCells } from './cells/etcd.ts';
import { kindCells } from './cells/kinds.ts';
import { postgresCells } from './cells/postgres.ts';
import { redisReplicatedCells } from './cells/redis-replicated.ts';
import { redisSentinelCells } from './cells/redis-sentinel.ts';
import { redisSingleCells } from './cells/redis-single.ts';
import { redlockCells } from './cells/redlock.ts';
import { workloadCells } from './cells/workloads.ts';
import { zookeeperCells } from './cells/zookeeper.ts';
import type { Expectation, SafetyCode } from '../../checkers/verdict.ts';
import { DEFAULT_VARIANT } from '../contract/backend.ts';
import { differingFlags } from '../settings/plan-flags.ts';
import { parsePlan, type Plan, type PlanInput } from './plan.ts';
import { vocabulary } from './vocabulary.ts';
import { workloads } from '../../workloads/index.ts';

export const catalogue: readonly Cell[] = [
  ...cellsOf('redis-single', redisSingleCells),
  ...cellsOf('redis-replicated', redisReplicatedCells),
  ...cellsOf('redis-sentinel', redisSentinelCells),
  ...cellsOf('redlock', redlockCells),
  ...cellsOf('etcd', etcdCells),
  ...cellsOf('zookeeper', zookeeperCells),
  ...cellsOf('postgres', postgresCells),
  ...[...workloadCells, ...kindCells].map((cell) => ({ variant: DEFAULT_VARIANT, ...cell })),
];

function cellsOf(backend: string, cells: readonly CellOfBackend[]): readonly Cell[] {
  return cells.map((cell) => ({ backend, variant: DEFAULT_VARIANT, ...cell }));
}

/** What identifies a cell. */
export type CellNames = Pick<Cell, 'backend' | 'variant' | 'recipe' | 'fault' | 'workload'>;

function cellNamed(names: CellNames): Cell | undefined {
  return catalogue.find(
    ({ backend, variant, recipe, fault, workload }) =>
      backend === names.backend &&
      variant === names.variant &&
      recipe === names.recipe &&
      fault === names.fault &&
      workload === names.workload,
  );
}

/**
 * What a plan of these names is given where nothing else says otherwise. A cell that is not catalogued, such as one of a
 * user's own recipe, is aimed at as the first one that is, of the same servers, fault and workload.
 */
export function settingsOf(names: CellNames): PlanInput {
  const { backend, variant, fault, workload } = names;
  const alike = catalogue.find(
    (cell) =>
      cell.backend === backend &&
      cell.variant === variant &&
      cell.fault === fault &&
      cell.workload === workload,
  );
  return {
    ...workloads.find(({ name }) => name === workload)?.defaults,
    ...(cellNamed(names) ?? alike)?.settings,
  };
}

/** The catalogued cell of a plan, with what theory expects of this plan. */
export function cellOf(plan: Plan): Cell | undefined {
  const { backend, variant, recipe, fault, workload, expect } = plan;
  if (expect !== undefined) {
    const because = 'whoever made the plan says so';
    return { backend, variant, recipe, fault, workload, settings: {}, expected: ofGrade(expect), because };
  }
  const cell = cellNamed(plan);
  if (plan.schedule !== undefined || cell === undefined) return undefined;
  const own = parsePlan(vocabulary, { backend, variant, recipe, fault, workload }, settingsOf(cell), {
    seed: plan.seed,
  });
  // Work that outlives the lease by itself, or no longer does, makes another experiment of it.
  if (workOfLease(plan) !== workOfLease(own)) return undefined;
  const changed = changedSettings(plan, own);
  if (changed.length === 0) return cell;
  return { ...cell, expected: { ...ofDefences(plan, cell.expected), changed } };
}

/** The settings, as flags, that are not those for which theory and tests say what must occur. */
function changedSettings(plan: Plan, own: Plan): readonly string[] {
  const { on, minContendedHandoffs } = plan;
  // A longer load shows what a shorter one must.
  const timeLimitMillis = Math.max(own.timeLimitMillis, plan.timeLimitMillis);
  return differingFlags(plan, { ...own, on, minContendedHandoffs, timeLimitMillis });
}

/** Without harm to what is not there: the store that checks nothing is where theory says that it must be found. */
function ofDefences({ defences }: Plan, expected: Expectation): Expectation {
  if (defences === 'all') return expected;
  const { findings, oneOf, allowed, stores = {} } = expected;
  const isAsked = (code: SafetyCode): boolean => defences.includes('none') || !IN_STORES.has(code);
  return {
    ...expected,
    findings: findings.filter(isAsked),
    oneOf: oneOf.every(isAsked) ? oneOf : [],
    allowed: [...allowed, ...findings, ...oneOf],
    stores: Object.fromEntries(Object.entries(stores).filter(([store]) => defences.includes(store))),
  };
}

/** Findings in what the lock protects. */
const IN_STORES: ReadonlySet<SafetyCode> = new Set<SafetyCode>([
  'stale-write-landed',
  'stale-write-accepted',
  'lost-update',
  'oversold',
  'duplicate-effect',
]);

/** How much of a lease the work under it takes. */
type WorkOfLease = 'little' | 'most' | 'longer';

function workOfLease({ thinkMillis, ttlMillis }: Plan): WorkOfLease | undefined {
  if (thinkMillis.max < ttlMillis / 2) return 'little';
  if (thinkMillis.max < ttlMillis) return 'most';
  return thinkMillis.min > ttlMillis ? 'longer' : undefined;
}
