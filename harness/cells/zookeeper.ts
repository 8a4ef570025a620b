// The cells of `zookeeper` (5.2 of the design). The ensemble gives no lock twice; what can go wrong is a holder that
// believes for longer than its session, and a node of a live session that nobody knows of.

import { outlivedButFenced, safe, type CellOfBackend } from './cell.ts';
import { LONG_WORK, LONGEST_WORK, outlivedAndTold, outlivedUntold } from './etcd.ts';

export const zookeeperCells: readonly CellOfBackend[] = [
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
    expected: outlivedButFenced,
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
];
