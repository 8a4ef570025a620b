// Which faults a run suffers, when, and where: named scenarios, each a pure function of plan and seed (I6). `run.ts`
// records the result in the journal's header; `nemesis.ts` carries it out. Must not know how a fault is done.

import { millis } from '../history/op.ts';
import type { Schedule } from '../contract/fault.ts';
import { randomStream } from '../rng.ts';
import { clockScenarios } from './clock-scenarios.ts';
import { groupScenarios } from './group-scenarios.ts';
import { leaderScenarios } from './leader-scenarios.ts';
import { linkScenarios } from './link-scenarios.ts';
import { partitionScenarios } from './partition-scenarios.ts';
import { resourceScenarios } from './resource-scenarios.ts';
import { swarmScenario } from './swarm.ts';
import { triggerScenarios } from './trigger-scenarios.ts';
import {
  OUTAGE_MILLIS,
  pastTheLease,
  periodic,
  whenGranted,
  type Scenario,
  type ScheduleBasis,
} from './timing.ts';

/** Does what the plan's own schedule says. */
export const FIXED = 'fixed';

/** Those that hit one client or one server at a time. */
const singleScenarios: readonly Scenario[] = [
  {
    name: 'none',
    summary: 'no fault',
    faults: [],
    steps: () => [],
  },
  {
    name: 'pause-holder',
    summary: 'SIGSTOP the process that was just granted a lock, for 1.5 × TTL',
    faults: ['pause'],
    steps: (basis) => [
      whenGranted(basis, {
        fault: 'pause',
        target: { kind: 'holder' },
        durationMillis: pastTheLease(basis),
      }),
    ],
  },
  {
    name: 'pause-client',
    summary: 'SIGSTOP a client chosen at random, for 1.5 × TTL',
    faults: ['pause'],
    steps: (basis, random) =>
      periodic(
        basis,
        random,
        { everyMillis: pastTheLease(basis) + 500, lastsMillis: pastTheLease(basis) },
        (atMillis) => [
          {
            kind: 'at',
            atMillis,
            spec: {
              fault: 'pause',
              target: { kind: 'random-client' },
              durationMillis: pastTheLease(basis),
            },
          },
        ],
      ),
  },
  {
    name: 'pause-server',
    summary: 'SIGSTOP the lock server for 1.5 × TTL',
    faults: ['pause'],
    steps: (basis, random) =>
      periodic(
        basis,
        random,
        { everyMillis: pastTheLease(basis) + 1_500, lastsMillis: pastTheLease(basis) },
        (atMillis) => [
          {
            kind: 'at',
            atMillis,
            spec: { fault: 'pause', target: { kind: 'server' }, durationMillis: pastTheLease(basis) },
          },
        ],
      ),
  },
  {
    name: 'kill-holder',
    summary: 'SIGKILL the process that was just granted a lock; a new process replaces it',
    faults: ['kill'],
    steps: (basis) => [
      whenGranted(basis, {
        fault: 'kill',
        target: { kind: 'holder' },
        durationMillis: OUTAGE_MILLIS,
      }),
    ],
  },
  {
    name: 'kill-client',
    summary: 'SIGKILL a client chosen at random; a new process replaces it',
    faults: ['kill'],
    steps: (basis, random) =>
      periodic(
        basis,
        random,
        { everyMillis: OUTAGE_MILLIS + 1_300, lastsMillis: OUTAGE_MILLIS },
        (atMillis) => [
          {
            kind: 'at',
            atMillis,
            spec: {
              fault: 'kill',
              target: { kind: 'random-client' },
              durationMillis: OUTAGE_MILLIS,
            },
          },
        ],
      ),
  },
  {
    name: 'kill-server',
    summary: 'SIGKILL the lock server, start it again with its disk',
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
            spec: { fault: 'kill', target: { kind: 'server' }, durationMillis: OUTAGE_MILLIS },
          },
        ],
      ),
  },
  {
    name: 'kill-acquirer',
    summary: 'stop the lock server for a moment and SIGKILL a client whose acquire is on its way meanwhile',
    faults: ['pause', 'kill'],
    // The request waits in the server's socket; its sender is dead when the server reads it, so whatever the recipe
    // would have sent next never comes. A bare timer would have to hit the gap between two round trips.
    steps: (basis, random) => {
      const stallMillis = Math.round(basis.commandTimeLimitMillis * 0.8);
      return periodic(
        basis,
        random,
        { everyMillis: stallMillis + OUTAGE_MILLIS + 1_000, lastsMillis: stallMillis + OUTAGE_MILLIS },
        (atMillis) => [
          {
            kind: 'at',
            atMillis,
            spec: { fault: 'pause', target: { kind: 'server' }, durationMillis: millis(stallMillis) },
          },
          {
            kind: 'at',
            atMillis: millis(atMillis + Math.round(stallMillis * 0.5)),
            spec: { fault: 'kill', target: { kind: 'acquirer' }, durationMillis: OUTAGE_MILLIS },
          },
        ],
      );
    },
  },
  {
    name: 'pause-releaser',
    summary: 'let the first reply of a release wait: the client is stopped before it arrives, for 1.5 × TTL',
    faults: ['pause'],
    // Server stopped → the client's first question waits → client stopped → server answers, unread → the lease runs out
    // and others are granted the lock → the client reads an answer that is long out of date, and acts on it.
    steps: (basis, random) => {
      const stallMillis = Math.round(Math.min(basis.ttlMillis * 0.3, basis.commandTimeLimitMillis * 0.8));
      return periodic(
        basis,
        random,
        {
          everyMillis: stallMillis + pastTheLease(basis) + 500,
          lastsMillis: stallMillis + pastTheLease(basis),
        },
        (atMillis) => [
          {
            kind: 'at',
            atMillis,
            spec: { fault: 'pause', target: { kind: 'server' }, durationMillis: millis(stallMillis) },
          },
          {
            kind: 'at',
            atMillis: millis(atMillis + Math.round(stallMillis * 0.6)),
            spec: { fault: 'pause', target: { kind: 'releaser' }, durationMillis: pastTheLease(basis) },
          },
        ],
      );
    },
  },
];

/** Nothing, what befalls the processes of users every day, and what can befall one of them besides. */
const FIRST: readonly string[] = [
  'none',
  'pause-holder',
  'kill-holder',
  'partition-holder',
  'pause-client',
  'kill-client',
  'partition-clients',
  'pause-waiter',
  'partition-renewing',
  'pause-releaser',
  'pause-acquirer',
  'kill-acquirer',
];

/** In the order in which whoever lists or runs several has them: none, of clients, of servers, of links, of clocks. */
export const scenarios: readonly Scenario[] = [
  ...singleScenarios,
  ...groupScenarios,
  ...leaderScenarios,
  ...triggerScenarios,
  ...resourceScenarios,
  ...partitionScenarios,
  ...linkScenarios,
  ...clockScenarios,
  swarmScenario,
  {
    name: FIXED,
    summary: 'the schedule that the plan carries, from a file: `--schedule`',
    faults: [],
    steps: () => [],
  },
].toSorted((a, b) => placeOf(a) - placeOf(b));

function placeOf({ name }: Scenario): number {
  const place = FIRST.indexOf(name);
  return place < 0 ? FIRST.length : place;
}

/** The scenario of that name, or undefined. */
export function scenarioNamed(name: string): Scenario | undefined {
  return scenarios.find((scenario) => scenario.name === name);
}

/** Every kind of fault that some scenario uses. */
export const faultNames: readonly string[] = [...new Set(scenarios.flatMap(({ faults }) => faults))];

/** What a run must show the effect of: the kinds of its steps, or, if it has none, of its scenario. */
export function plannedFaults({ faults }: Scenario, { steps }: Schedule): readonly string[] {
  return steps.length === 0 ? faults : [...new Set(steps.map(({ spec }) => spec.fault))];
}

/** The same basis and seed give the same schedule, on any machine (I6). */
export function scheduleOf(scenario: Scenario, basis: ScheduleBasis, seed: string): Schedule {
  if (basis.schedule !== undefined) return { seed, ...basis.schedule };
  return { steps: scenario.steps(basis, randomStream(seed, `schedule ${scenario.name}`)), seed };
}
