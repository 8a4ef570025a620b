// Cells in which a server lacks something, the same for several backends.

import { safe, type CellOfBackend } from './cell.ts';

const BECAUSE: Readonly<Record<string, string>> = {
  'stall-server': 'an answer that comes late, and well before the lease is over, harms nobody',
  'cpu-starve': 'a slow server is slow for all, and a holder counts its lease from before it asked',
  'disk-full':
    'a server that cannot write a grant down ends before it answers, and has the others on its disk',
  'slow-fsync': 'the answer waits for the disk, and a holder counts its lease from before it asked',
};

/** Of a service that has on disk what it has answered. */
export function scarcityCells(recipe: string): readonly CellOfBackend[] {
  return Object.entries(BECAUSE).map(([fault, because]) => ({
    recipe,
    fault,
    workload: 'counter',
    settings: {},
    expected: safe,
    because,
  }));
}
