// The cells that lockpick knows: backend × recipe × fault × workload, with what theory expects of each and why (5.2 of
// the design). A cell that theory calls unsafe and a run does not show to be is itself a failure (2.4).

import type { Expectation } from '../checkers/verdict.ts';
import { DEFAULT_VARIANT } from './contract/backend.ts';
import type { Plan, PlanInput } from './plan.ts';
import { workloads } from '../workloads/index.ts';

export interface Cell {
  readonly backend: string;
  /** Of its servers. */
  readonly variant: string;
  readonly recipe: string;
  readonly fault: string;
  readonly workload: string;
  /** Where it needs other settings than the defaults to show what it shows. */
  readonly settings: PlanInput;
  readonly expected: Expectation;
  /** Why, in one or two sentences. */
  readonly because: string;
}

const safe: Expectation = { grade: 'safe', findings: [], oneOf: [], liveness: [], allowed: [] };

/** Two clients believed they held it, and the store that checks nothing was harmed. */
const outlived: Expectation = {
  grade: 'unsafe',
  findings: ['belief-overlap'],
  oneOf: ['stale-write-landed', 'lost-update'],
  liveness: [],
  allowed: ['stale-write-landed', 'lost-update'],
};

/** The same harm to the store that checks nothing; the one that checks the token stayed clean. */
const outlivedButFenced: Expectation = { ...outlived, grade: 'safe-with-fencing' };

const redisSingle: readonly Omit<Cell, 'backend' | 'variant'>[] = [
  ...['set-nx-px', 'watchdog', 'fenced-incr'].flatMap((recipe): Omit<Cell, 'backend' | 'variant'>[] => [
    {
      recipe,
      fault: 'none',
      workload: 'counter',
      settings: {},
      expected: safe,
      because:
        'one healthy Redis answers one command at a time, and every lease outlives the work done under it',
    },
    {
      recipe,
      fault: 'kill-holder',
      workload: 'counter',
      settings: {},
      expected: safe,
      because: 'a dead holder writes nothing; its key runs out with its lease',
    },
    {
      recipe,
      fault: 'kill-server',
      workload: 'counter',
      settings: {},
      expected: safe,
      because:
        'the key was on disk before the grant was answered (appendfsync always) and keeps its absolute expiry',
    },
    {
      recipe,
      fault: 'pause-server',
      workload: 'counter',
      settings: {},
      expected: safe,
      because: 'a stopped server grants nothing, and the work is shorter than the lease',
    },
  ]),
  {
    recipe: 'set-nx-px',
    fault: 'pause-holder',
    workload: 'counter',
    settings: {},
    expected: outlived,
    because:
      'the lease runs out while its holder is stopped; it resumes, believes, and writes, with no token to stop it',
  },
  {
    recipe: 'watchdog',
    fault: 'pause-holder',
    workload: 'counter',
    settings: {},
    expected: outlived,
    because: 'a stopped process does not renew either',
  },
  {
    recipe: 'fenced-incr',
    fault: 'pause-holder',
    workload: 'counter',
    settings: {},
    expected: outlivedButFenced,
    because: 'the stopped holder still writes late, but its token is lower than one the store has seen',
  },
  {
    recipe: 'set-nx-px',
    fault: 'none',
    workload: 'long-hold',
    settings: {},
    expected: outlived,
    because: 'nothing extends the lease while the work goes on',
  },
  {
    recipe: 'watchdog',
    fault: 'none',
    workload: 'long-hold',
    settings: {},
    expected: safe,
    because: 'the lease is renewed for as long as its holder lives',
  },
  {
    recipe: 'watchdog',
    fault: 'pause-holder',
    workload: 'long-hold',
    settings: {},
    expected: outlived,
    because: 'a stopped process does not renew',
  },
  {
    recipe: 'del-unconditional',
    fault: 'pause-holder',
    workload: 'counter',
    settings: { locks: 1 },
    expected: {
      ...outlived,
      findings: ['belief-overlap', 'foreign-release', 'double-grant'],
    },
    because:
      "the late holder's DEL removes the key of whoever holds the lock by then, and the next one is let in",
  },
  {
    recipe: 'get-then-del',
    fault: 'pause-releaser',
    workload: 'counter',
    // The client must not give up on the late answer, nor the lease outlive the pause.
    settings: { locks: 1, ttlMillis: '300ms', commandTimeLimitMillis: '2s', thinkMillis: '20ms..40ms' },
    expected: {
      grade: 'unsafe',
      findings: ['double-grant'],
      oneOf: [],
      liveness: [],
      allowed: ['stale-write-landed', 'lost-update', 'foreign-release', 'belief-overlap'],
    },
    because:
      'between GET and DEL the lease runs out and the key becomes that of another, which is then deleted',
  },
  {
    recipe: 'setnx-then-expire',
    fault: 'kill-acquirer',
    workload: 'counter',
    // Acquires on their way to free locks: many locks, and more time between sessions than in them.
    settings: {
      locks: 10,
      thinkMillis: '5ms..10ms',
      idleMillis: '20ms..60ms',
      minContendedHandoffs: 1,
    },
    expected: { ...safe, liveness: ['stuck-lock'] },
    because: 'a process that dies between SETNX and PEXPIRE leaves a key that never expires',
  },
];

export const catalogue: readonly Cell[] = redisSingle.map((cell) => ({
  backend: 'redis-single',
  variant: DEFAULT_VARIANT,
  ...cell,
}));

/** What identifies a cell. */
export type CellNames = Pick<Cell, 'backend' | 'variant' | 'recipe' | 'fault' | 'workload'>;

export function cellNamed(names: CellNames): Cell | undefined {
  return catalogue.find(
    ({ backend, variant, recipe, fault, workload }) =>
      backend === names.backend &&
      variant === names.variant &&
      recipe === names.recipe &&
      fault === names.fault &&
      workload === names.workload,
  );
}

/** What a plan of these names is given where nothing else says otherwise. */
export function settingsOf(names: CellNames): PlanInput {
  return {
    ...workloads.find(({ name }) => name === names.workload)?.defaults,
    ...cellNamed(names)?.settings,
  };
}

/** The catalogued cell of a plan, if its settings still are what the expectation was made for. */
export function cellOf(plan: Plan): Cell | undefined {
  // Work that outlives the lease by itself, or no longer does, makes another experiment of it.
  const comparable =
    plan.workload === 'long-hold'
      ? plan.thinkMillis.min > plan.ttlMillis
      : plan.thinkMillis.max < plan.ttlMillis / 2;
  return comparable ? cellNamed(plan) : undefined;
}
