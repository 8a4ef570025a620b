// The cells of `postgres`: what one gets from a database that is there anyway.

import { outlivedButFenced, safe, type CellOfBackend } from './cell.ts';
import { wallClockCells } from './clock.ts';

const BECAUSE: Readonly<Record<string, string>> = {
  none: 'one healthy server gives each lock once',
  'kill-holder':
    'a dead holder writes nothing; its session ends with its connection, its lease with its time',
  'kill-server':
    'sessions end with the server, and their clients hear it at once; leases were committed before they were answered',
};

export const postgresCells: readonly CellOfBackend[] = [
  ...wallClockCells('lease-row', 'tokens', ['clock-jump']),
  ...['none', 'kill-holder', 'kill-server'].flatMap((fault) =>
    ['advisory-lock', 'lease-row'].map((recipe): CellOfBackend => ({
      recipe,
      fault,
      workload: 'counter',
      settings: {},
      expected: safe,
      because: BECAUSE[fault] ?? '',
    })),
  ),
  {
    recipe: 'advisory-lock',
    fault: 'pause-holder',
    workload: 'counter',
    settings: {},
    expected: safe,
    because: 'no lease runs out: the session of a stopped holder lives on, and everybody else waits',
  },
  {
    recipe: 'advisory-lock',
    fault: 'partition-holder',
    workload: 'counter',
    settings: { minContendedHandoffs: 5 },
    expected: safe,
    because:
      'the server does not see that the holder is cut off, and keeps its lock until it hears of it again',
  },
  {
    recipe: 'lease-row',
    fault: 'pause-holder',
    workload: 'counter',
    settings: {},
    expected: outlivedButFenced,
    because: 'the lease runs out while its holder is stopped; the late write is refused by its token',
  },
];
