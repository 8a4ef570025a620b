// What `lockpick compare` runs: every catalogued cell, or of each backend those that say most, with how many seeds.
// Pure.

import type { ProfileName } from '../plan/choices.ts';

export interface Profile {
  readonly summary: string;
  /** Every catalogued cell, or the telling ones. */
  readonly cells: 'all' | 'telling';
  readonly seeds: number;
}

export const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  smoke: {
    summary: 'the most telling cells of each backend, once: does everything work here?',
    cells: 'telling',
    seeds: 1,
  },
  standard: { summary: 'every catalogued cell, 5 seeds', cells: 'all', seeds: 5 },
  nightly: {
    summary: 'every catalogued cell, 20 seeds: split it with --shard',
    cells: 'all',
    seeds: 20,
  },
};

/**
 * What shows in the shortest time what is special about each backend, and the load that takes: where the lock is lost,
 * and, of those that do not lose it with their leader, that too.
 */
export const TELLING: readonly { readonly cell: string; readonly timeLimitMillis: string }[] = [
  { cell: 'redis-single/fenced-incr/pause-holder', timeLimitMillis: '6s' },
  { cell: 'redis-replicated/set-nx-px/lose-primary', timeLimitMillis: '12s' },
  { cell: 'redis-sentinel/set-nx-px/kill-isolated-primary', timeLimitMillis: '14s' },
  { cell: 'redlock:no-persistence/redlock/restart-voter', timeLimitMillis: '15s' },
  { cell: 'etcd/lease-queue/pause-holder', timeLimitMillis: '6s' },
  { cell: 'etcd/lease-queue/kill-leader', timeLimitMillis: '8s' },
  { cell: 'zookeeper/ephemeral-sequential/pause-holder', timeLimitMillis: '6s' },
  { cell: 'zookeeper/ephemeral-sequential/kill-leader', timeLimitMillis: '8s' },
  { cell: 'postgres/lease-row/pause-holder', timeLimitMillis: '6s' },
];
