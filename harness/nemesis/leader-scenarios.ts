// Scenarios against the leader of a consensus group (etcd, ZooKeeper). Who leads is asked when the fault is injected.
// Pure functions of plan and seed, as those in `schedule.ts`.

import { millis } from '../history/op.ts';
import { OUTAGE_MILLIS, pastTheLease, periodic, type Scenario } from './timing.ts';

const LEADER = { kind: 'role', role: 'leader' } as const;

export const leaderScenarios: readonly Scenario[] = [
  {
    name: 'kill-leader',
    summary: 'SIGKILL the server that leads, start it again with its disk',
    faults: ['kill'],
    steps: (basis, random) =>
      periodic(
        basis,
        random,
        { everyMillis: OUTAGE_MILLIS + 2_300, lastsMillis: OUTAGE_MILLIS },
        (atMillis) => [
          {
            kind: 'at',
            atMillis,
            spec: { fault: 'kill', target: LEADER, durationMillis: OUTAGE_MILLIS },
          },
        ],
      ),
  },
  {
    name: 'pause-leader',
    summary: 'SIGSTOP the server that leads for 1.5 × TTL: another one may lead when it goes on',
    faults: ['pause'],
    steps: (basis, random) =>
      periodic(
        basis,
        random,
        { everyMillis: pastTheLease(basis) + 2_000, lastsMillis: pastTheLease(basis) },
        (atMillis) => [
          {
            kind: 'at',
            atMillis,
            spec: { fault: 'pause', target: LEADER, durationMillis: pastTheLease(basis) },
          },
        ],
      ),
  },
  {
    name: 'stall-leader',
    summary: 'SIGSTOP the server that leads for twice as long as clients wait for an answer',
    faults: ['pause'],
    // What a client asked for waits in the leader's socket; it is carried out when the leader goes on, unless another one
    // leads by then, and its client has given up on it.
    steps: (basis, random) => {
      const stallMillis = basis.commandTimeLimitMillis * 2;
      return periodic(
        basis,
        random,
        { everyMillis: stallMillis + 2_000, lastsMillis: stallMillis },
        (atMillis) => [
          {
            kind: 'at',
            atMillis,
            spec: { fault: 'pause', target: LEADER, durationMillis: millis(stallMillis) },
          },
        ],
      );
    },
  },
];
