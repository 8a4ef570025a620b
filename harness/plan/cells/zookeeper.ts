// The cells of `zookeeper` (5.2 of the design). The ensemble gives no lock twice; what can go wrong is a holder that
// believes for longer than its session, and a node of a live session that nobody knows of.

import type { PlanInput } from '../plan.ts';
import { monotonicCell } from './clock.ts';
import { givenTwice, safe, type CellOfBackend } from './cell.ts';
import { LONG_WORK, LONGEST_WORK, outlivedAndTold, outlivedInTheDark, outlivedUntold } from './etcd.ts';

/** Many clients that do little else than enter queues, and sessions that outlive the faults. */
const MANY_ENTRIES: PlanInput = {
  ttlMillis: '2s',
  clients: 6,
  locks: 4,
  thinkMillis: '5ms..10ms',
  idleMillis: '20ms..60ms',
  minContendedHandoffs: 1,
};

export const zookeeperCells: readonly CellOfBackend[] = [
  monotonicCell('ephemeral-sequential'),
  {
    recipe: 'ephemeral-sequential',
    fault: 'none',
    workload: 'counter',
    settings: {},
    expected: safe,
    because: 'the leader numbers the nodes, and every session outlives the work done under it',
  },
  {
    recipe: 'ephemeral-sequential',
    fault: 'kill-holder',
    workload: 'counter',
    settings: {},
    expected: safe,
    because: 'a dead holder writes nothing; its node goes with its session',
  },
  {
    recipe: 'ephemeral-sequential',
    fault: 'kill-server',
    workload: 'counter',
    settings: {},
    expected: safe,
    because: 'two of three servers go on; a new leader restarts every session in full',
  },
  {
    recipe: 'ephemeral-sequential',
    fault: 'kill-leader',
    workload: 'counter',
    settings: { minContendedHandoffs: 5 },
    expected: safe,
    because: 'what was committed is on the disks of a majority, and the new leader has it',
  },
  {
    recipe: 'ephemeral-sequential',
    fault: 'partition-leader',
    workload: 'counter',
    settings: { minContendedHandoffs: 5 },
    expected: safe,
    because:
      'a leader that no majority follows commits nothing, and steps down; the next one knows every node',
  },
  {
    recipe: 'ephemeral-sequential',
    fault: 'pause-leader',
    workload: 'counter',
    settings: { minContendedHandoffs: 5 },
    expected: safe,
    because:
      'a stopped leader is replaced if it is silent for long, and learns of it before it answers again',
  },
  {
    recipe: 'ephemeral-sequential',
    fault: 'stall-leader',
    workload: 'counter',
    settings: MANY_ENTRIES,
    expected: safe,
    because: 'a client whose reply was lost finds its node by the value in its name',
  },
  {
    recipe: 'zk-no-guid',
    fault: 'stall-leader',
    workload: 'counter',
    // After the first fault hardly any lock can be had.
    settings: { ...MANY_ENTRIES, minContendedHandoffs: 0 },
    expected: { ...safe, liveness: ['stuck-lock'] },
    because:
      'a create was carried out and its reply lost; the node lives with its session, and nobody removes it',
  },
  {
    recipe: 'ephemeral-sequential',
    fault: 'pause-server',
    workload: 'counter',
    settings: {},
    expected: safe,
    because: 'clients of a stopped server take their session to another one',
  },
  {
    recipe: 'ephemeral-sequential',
    fault: 'none',
    workload: 'long-hold',
    settings: LONG_WORK,
    expected: safe,
    because: 'the session is kept alive for as long as its client lives',
  },
  {
    recipe: 'ephemeral-sequential',
    fault: 'pause-holder',
    workload: 'counter',
    settings: {},
    expected: outlivedAndTold,
    because: 'the stopped holder still writes late, but its czxid is lower than one the store has seen',
  },
  {
    recipe: 'ephemeral-sequential',
    fault: 'pause-holder',
    workload: 'long-hold',
    settings: LONGEST_WORK,
    expected: outlivedAndTold,
    because: 'its own deadline has passed when it goes on, so it stops at once',
  },
  {
    recipe: 'zk-ignores-session-loss',
    fault: 'pause-holder',
    workload: 'long-hold',
    settings: LONGEST_WORK,
    expected: outlivedUntold,
    because: 'its session is gone when it goes on, and it works to the end all the same',
  },
  {
    recipe: 'zk-no-recheck',
    fault: 'none',
    workload: 'counter',
    // Whoever waits in the middle of the queue gives up before its turn.
    settings: { locks: 1, thinkMillis: '100ms..200ms', patienceMillis: '250ms' },
    expected: { ...givenTwice, grade: 'safe-with-fencing' },
    because:
      'one that gave up waiting makes the next one believe that the lock is free; the token of that one is newer',
  },
  {
    recipe: 'zk-all-watch-holder',
    fault: 'none',
    workload: 'handover',
    settings: {},
    expected: {
      ...givenTwice,
      grade: 'safe-with-fencing',
      allowed: ['belief-overlap'],
      queueJumps: true,
    },
    because:
      'all who wait wake up at once, and which of them is granted first has nothing to do with its place',
  },
  {
    recipe: 'ephemeral-sequential',
    fault: 'partition-holder',
    workload: 'long-hold',
    settings: LONGEST_WORK,
    expected: safe,
    because:
      'it counts its deadline from before its last heartbeat left, so it stops before the session can end',
  },
  {
    recipe: 'zk-ignores-session-loss',
    fault: 'partition-holder',
    workload: 'long-hold',
    settings: LONGEST_WORK,
    expected: outlivedInTheDark,
    because: 'it hears nothing from the ensemble and does not look, so it works to the end',
  },
];
