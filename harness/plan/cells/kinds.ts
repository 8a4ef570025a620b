// The cells of other kinds of locks than one that a single holder has alone: semaphores, read-write and reentrant locks,
// each right and wrong, with the workload that asks for them.

import type { Expectation } from '../../../checkers/verdict.ts';
import { givenTwice, outlived, outlivedButFenced, safe, type Cell } from './cell.ts';

type CellOfKind = Omit<Cell, 'variant' | 'settings'> & Partial<Pick<Cell, 'settings'>>;

/** A semaphore has no token, and its workload no store. */
const oneTooMany = {
  ...givenTwice,
  allowed: ['belief-overlap'],
} as const;

/** One too many for a while; there is no data that could be harmed. */
const unsafeOverlap: Expectation = { ...outlived, oneOf: [], allowed: ['expired-grant'] };

const cells: readonly CellOfKind[] = [
  {
    backend: 'redis-single',
    recipe: 'semaphore',
    fault: 'none',
    workload: 'permits',
    expected: safe,
    because: 'one script counts and adds, so no permit is given twice',
  },
  {
    backend: 'redis-single',
    recipe: 'semaphore',
    fault: 'pause-holder',
    workload: 'permits',
    expected: unsafeOverlap,
    because: 'a permit has a lease like any lock: the holder that was stopped wakes up as one too many',
  },
  {
    backend: 'redis-single',
    recipe: 'semaphore-count-then-add',
    fault: 'none',
    workload: 'permits',
    settings: { thinkMillis: '5ms..15ms', idleMillis: '0', pollMillis: '0..2ms' },
    expected: oneTooMany,
    because: 'two who count at the same time both take the last permit',
  },
  {
    backend: 'zookeeper',
    recipe: 'semaphore',
    fault: 'none',
    workload: 'permits',
    expected: safe,
    because: 'the ensemble numbers the nodes, and only the lowest have a permit',
  },
  {
    backend: 'etcd',
    recipe: 'semaphore',
    fault: 'none',
    workload: 'permits',
    expected: safe,
    because: 'the cluster orders the keys by their create revision, and only the oldest have a permit',
  },
  {
    backend: 'etcd',
    recipe: 'semaphore',
    fault: 'pause-holder',
    workload: 'permits',
    expected: unsafeOverlap,
    because:
      'the lease of the holder that was stopped ends, and the next one has its permit when it wakes up',
  },
  {
    backend: 'redis-single',
    recipe: 'read-write',
    fault: 'none',
    workload: 'readers-writers',
    expected: safe,
    because: 'readers share, and each side looks for the other in the script that grants',
  },
  {
    backend: 'redis-single',
    recipe: 'read-write',
    fault: 'pause-holder',
    workload: 'readers-writers',
    expected: { ...outlivedButFenced, oneOf: [] },
    because: 'a reader or writer that was stopped wakes up beside the next one; its token is older',
  },
  {
    backend: 'redis-single',
    recipe: 'read-ignores-writer',
    fault: 'none',
    workload: 'readers-writers',
    expected: { ...givenTwice, grade: 'safe-with-fencing' },
    because:
      'a reader is let in while somebody writes; the store refuses the writer, whose token is older by then',
  },
  {
    backend: 'zookeeper',
    recipe: 'read-write',
    fault: 'none',
    workload: 'readers-writers',
    expected: safe,
    because: 'one queue for both: a writer waits for all before it, a reader for the writers',
  },
  {
    backend: 'etcd',
    recipe: 'read-write',
    fault: 'none',
    workload: 'readers-writers',
    expected: safe,
    because: 'one queue for both, in the order of create revisions',
  },
  {
    backend: 'etcd',
    recipe: 'read-write',
    fault: 'pause-holder',
    workload: 'readers-writers',
    expected: { ...outlivedButFenced, oneOf: [] },
    because: 'a reader or writer that was stopped wakes up beside the next one, with a lower create revision',
  },
  {
    backend: 'redis-single',
    recipe: 'reentrant',
    fault: 'none',
    workload: 'nested',
    // It is two sections under one lease.
    settings: { ttlMillis: '2s' },
    expected: safe,
    because: 'the hash counts, so the inner release frees nothing',
  },
  {
    backend: 'redis-single',
    recipe: 'reentrant',
    fault: 'pause-holder',
    workload: 'nested',
    expected: { ...outlivedButFenced, oneOf: [] },
    because:
      'a lease all the same: the holder that was stopped wakes up beside the next one, with an older token',
  },
  {
    backend: 'redis-single',
    recipe: 'reentrant-drops-all',
    fault: 'none',
    workload: 'nested',
    expected: { ...givenTwice, grade: 'safe-with-fencing' },
    because:
      'the inner release frees the lock, and the next one is let in while its holder goes on; its token is newer',
  },
  {
    backend: 'zookeeper',
    recipe: 'reentrant',
    fault: 'none',
    workload: 'nested',
    // It is two sections under one session.
    settings: { ttlMillis: '2s' },
    expected: safe,
    because: 'its client counts, and the node goes with the last release',
  },
  {
    backend: 'zookeeper',
    recipe: 'reentrant',
    fault: 'pause-holder',
    workload: 'nested',
    expected: { ...outlivedButFenced, oneOf: [] },
    because: 'the session of the holder that was stopped ends, however often it came in',
  },
];

export const kindCells: readonly Omit<Cell, 'variant'>[] = cells.map((cell) => ({ settings: {}, ...cell }));
