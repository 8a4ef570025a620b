// Scenarios in which a server lacks something: a moment, the processor, room on its disk, a quick disk. Pure functions
// of plan and seed, as those in `schedule.ts`.

import { millis, type JsonRecord } from '../history/op.ts';
import { OUTAGE_MILLIS, periodic, type Scenario, type ScheduleBasis } from './timing.ts';

interface Repeated {
  readonly lastsMillis: (basis: ScheduleBasis) => number;
  readonly params?: (basis: ScheduleBasis) => JsonRecord;
}

function scenario(name: string, fault: string, summary: string, { lastsMillis, params }: Repeated): Scenario {
  return {
    name,
    summary,
    faults: [fault],
    steps: (basis, random) => {
      const lasts = Math.round(lastsMillis(basis));
      const everyMillis = lasts + basis.ttlMillis + OUTAGE_MILLIS;
      return periodic(basis, random, { everyMillis, lastsMillis: lasts }, (atMillis) => [
        {
          kind: 'at',
          atMillis,
          spec: {
            fault,
            target: basis.service.leads ? { kind: 'lead' } : { kind: 'server' },
            durationMillis: millis(lasts),
            ...(params !== undefined && { params: params(basis) }),
          },
        },
      ]);
    },
  };
}

export const resourceScenarios: readonly Scenario[] = [
  scenario('stall-server', 'stall', 'SIGSTOP the server, or the one that leads, for half a TTL', {
    lastsMillis: ({ ttlMillis }) => ttlMillis / 2,
  }),
  scenario('cpu-starve', 'cpu-starve', 'leave the server 2 ms of every 100 of one processor, for 2 × TTL', {
    lastsMillis: ({ ttlMillis }) => ttlMillis * 2,
  }),
  // What it appends may fit into the last page of its file for a while.
  scenario(
    'disk-full',
    'disk-full',
    "leave no room on the server's disk for 2 × TTL; one that ends comes back",
    {
      lastsMillis: ({ ttlMillis }) => ttlMillis * 2,
    },
  ),
  scenario(
    'slow-fsync',
    'slow-fsync',
    'every fsync of the server takes a tenth of a TTL longer, for 2 × TTL',
    {
      lastsMillis: ({ ttlMillis }) => ttlMillis * 2,
      params: ({ ttlMillis }) => ({ delayMillis: ttlMillis / 10 }),
    },
  ),
];
