// What `lockpick compare` runs: every catalogued cell, or of each backend the one that says most, with how many seeds.
// Pure.

import type { ProfileName } from '../choices.ts';
import type { PlanInput } from '../plan.ts';

export interface Profile {
  readonly summary: string;
  /** Every catalogued cell, or one of each backend. */
  readonly cells: 'all' | 'telling';
  readonly seeds: number;
  /** Over the cells' own settings. */
  readonly settings: PlanInput;
}

export const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  smoke: {
    summary: 'the most telling cell of each backend, once: does everything work here?',
    cells: 'telling',
    seeds: 1,
    settings: {},
  },
  standard: { summary: 'every catalogued cell, 5 seeds', cells: 'all', seeds: 5, settings: {} },
  nightly: {
    summary: 'every catalogued cell, 20 seeds: split it with --shard',
    cells: 'all',
    seeds: 20,
    settings: {},
  },
};

/**
 * The cell of each backend that shows in the shortest time what is special about it, and the load that takes. A backend
 * that is not named here has its first cell in which a holder is stopped.
 */
export const TELLING: Readonly<Record<string, { readonly cell: string; readonly timeLimitMillis: string }>> =
  {
    'redis-single': { cell: 'redis-single/fenced-incr/pause-holder', timeLimitMillis: '6s' },
    'redis-replicated': { cell: 'redis-replicated/set-nx-px/lose-primary', timeLimitMillis: '12s' },
    'redis-sentinel': { cell: 'redis-sentinel/set-nx-px/kill-isolated-primary', timeLimitMillis: '14s' },
    redlock: { cell: 'redlock:no-persistence/redlock/restart-voter', timeLimitMillis: '12s' },
    etcd: { cell: 'etcd/lease-queue/pause-holder', timeLimitMillis: '6s' },
    zookeeper: { cell: 'zookeeper/ephemeral-sequential/pause-holder', timeLimitMillis: '6s' },
    postgres: { cell: 'postgres/lease-row/pause-holder', timeLimitMillis: '6s' },
  };
