// Scenarios that wait for a state and strike at once, which finds in seconds what a timer would have to be lucky for.
// Pure functions of plan and seed, as those in `schedule.ts`.

import type { FaultSpec, Step, Trigger } from '../contract/fault.ts';
import { millis, type Millis } from '../history/op.ts';
import { OUTAGE_MILLIS, pastTheLease, WARM_UP_MILLIS, type Scenario } from './timing.ts';

const AT_ONCE = { min: millis(0), max: millis(0) };

/** Each time, after a pause in which the service recovers. */
function whenever(event: Trigger, spec: FaultSpec, recoveryMillis: Millis): Step {
  return {
    kind: 'when',
    event,
    afterMillis: WARM_UP_MILLIS,
    delayMillis: AT_ONCE,
    limit: 1_000,
    cooldownMillis: recoveryMillis,
    spec,
  };
}

export const triggerScenarios: readonly Scenario[] = [
  {
    name: 'lose-power',
    summary:
      'take the power of the server, or of the one that leads, as soon as it has granted a lock (simulated only)',
    faults: ['power-loss'],
    // Back well before the lease is over.
    steps: ({ service, ttlMillis }) => [
      whenever(
        'granted',
        {
          fault: 'power-loss',
          target: service.leads ? { kind: 'lead' } : { kind: 'server' },
          durationMillis: millis(ttlMillis * 0.1),
        },
        millis(3_000),
      ),
    ],
  },
  {
    name: 'kill-granting-leader',
    summary: 'SIGKILL the server that leads as soon as it has granted a lock, start it again with its disk',
    faults: ['kill'],
    steps: () => [
      whenever(
        'granted',
        { fault: 'kill', target: { kind: 'lead' }, durationMillis: OUTAGE_MILLIS },
        millis(3_000),
      ),
    ],
  },
  {
    name: 'partition-renewing',
    summary: 'cut a process that asks to renew its lease off from every lock server, for 1.5 × TTL',
    faults: ['partition'],
    steps: (basis) => [
      whenever(
        'renewing',
        {
          fault: 'partition',
          target: { kind: 'holder' },
          durationMillis: pastTheLease(basis),
          params: { from: 'servers' },
        },
        basis.ttlMillis,
      ),
    ],
  },
  {
    name: 'pause-waiter',
    summary: 'SIGSTOP a process that waits for a lock that was just released, for 1.5 × TTL',
    faults: ['pause'],
    steps: (basis) => [
      whenever(
        'released',
        { fault: 'pause', target: { kind: 'waiter' }, durationMillis: pastTheLease(basis) },
        basis.ttlMillis,
      ),
    ],
  },
  {
    name: 'pause-promoted',
    summary: 'SIGKILL the server that leads, and SIGSTOP the one that leads after it, for 1.5 × TTL',
    faults: ['kill', 'pause'],
    steps: (basis) => [
      whenever(
        'granted',
        { fault: 'kill', target: { kind: 'lead' }, durationMillis: millis(OUTAGE_MILLIS + basis.ttlMillis) },
        millis(pastTheLease(basis) + 3_000),
      ),
      whenever(
        'promoted',
        { fault: 'pause', target: { kind: 'lead' }, durationMillis: pastTheLease(basis) },
        millis(3_000),
      ),
    ],
  },
];
