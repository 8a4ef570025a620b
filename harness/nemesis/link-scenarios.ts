// Scenarios in which links are bad and not cut: between the lock servers, and between them and their clients. The link to
// the store stays as it is (I8). Pure functions of plan and seed, as those in `schedule.ts`.

import type { FaultSpec, TargetSelector } from '../contract/fault.ts';
import { millis, type JsonRecord } from '../history/op.ts';
import { periodic, type Scenario } from './timing.ts';

/** The trial that proves it takes up to two seconds of this. */
const BAD_MILLIS = 4_000;
const GOOD_MILLIS = 1_000;
const SERVERS: TargetSelector = { kind: 'servers', count: 'all' };

function badLinks(name: string, summary: string, fault: string, params: JsonRecord): Scenario {
  const spec: FaultSpec = {
    fault,
    target: SERVERS,
    durationMillis: millis(BAD_MILLIS),
    params: { from: 'clients', ...params },
  };
  return {
    name,
    summary: `${summary}, for 4 s`,
    faults: [fault],
    steps: (basis, random) =>
      periodic(
        basis,
        random,
        { everyMillis: BAD_MILLIS + GOOD_MILLIS, lastsMillis: BAD_MILLIS },
        (atMillis) => [{ kind: 'at', atMillis, spec }],
      ),
  };
}

export const linkScenarios: readonly Scenario[] = [
  badLinks(
    'slow-links',
    'let what the lock servers answer arrive late by 700 ms, or be held back so long',
    'delay',
    {
      way: 'out',
      delayMillis: 700,
    },
  ),
  badLinks('lossy-links', 'lose a fifth of the packets between clients and lock servers', 'loss', {
    percent: 20,
  }),
  badLinks(
    'duplicating-links',
    'let a third of the packets between clients and lock servers arrive twice',
    'duplicate',
    {
      percent: 33,
    },
  ),
  badLinks(
    'reordering-links',
    'let packets between clients and lock servers overtake each other',
    'reorder',
    {
      percent: 30,
      delayMillis: 20,
    },
  ),
  badLinks('narrow-links', 'let links between clients and lock servers carry 256 kbit/s', 'rate', {
    kilobitPerSecond: 256,
  }),
];
