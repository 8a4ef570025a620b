// Scenarios that cut clients off from the lock service, and not from the store: the dangerous case (I8). Pure functions
// of plan and seed, as those in `schedule.ts`.

import { millis } from '../history/op.ts';
import { whenGranted, type Scenario } from './timing.ts';

/** Of the TTL: longer than a library takes that says so after twice the TTL. */
const CUT_OF_TTL = 2.5;

export const partitionScenarios: readonly Scenario[] = [
  {
    name: 'partition-holder',
    summary: 'cut the process that was just granted a lock off from every lock server, for 2.5 × TTL',
    faults: ['partition'],
    steps: (basis) => [
      whenGranted(basis, {
        fault: 'partition',
        target: { kind: 'holder' },
        durationMillis: millis(basis.ttlMillis * CUT_OF_TTL),
        params: { from: 'servers' },
      }),
    ],
  },
];
