// Scenarios in which nodes do not hear each other. Clients that are cut off from the lock service still reach the store,
// and servers that are cut off from each other are still reached by clients, unless a scenario says otherwise: these are
// the dangerous cases (I8). Pure functions of plan and seed, as those in `schedule.ts`.

import type { Step, TargetSelector, Trigger } from '../contract/fault.ts';
import type { Random } from '../contract/workload.ts';
import { millis, type JsonRecord } from '../history/op.ts';
import { periodic, WARM_UP_MILLIS, whenGranted, type Scenario, type ScheduleBasis } from './timing.ts';

/** Of the TTL: longer than a library takes that says so after twice the TTL. */
const CUT_OF_TTL = 2.5;
/** Longer than an ensemble with a syncLimit of two seconds takes to notice it and to elect another leader. */
const SPLIT_MILLIS = 4_000;
/** For elections, and for clients to come back. */
const CALM_MILLIS = 2_000;

const LEAD: TargetSelector = { kind: 'lead' };
const SERVER: TargetSelector = { kind: 'server' };
const ALL_SERVERS: TargetSelector = { kind: 'servers', count: 'all' };

/** A split of the servers, again and again, healed for a while in between. */
function splits(
  name: string,
  summary: string,
  target: TargetSelector,
  params: JsonRecord | ((random: Random) => JsonRecord),
): Scenario {
  return {
    name,
    summary: `${summary}, for 4 s`,
    faults: ['partition'],
    steps: (basis, random) =>
      periodic(
        basis,
        random,
        { everyMillis: SPLIT_MILLIS + CALM_MILLIS, lastsMillis: SPLIT_MILLIS },
        (atMillis) => [
          {
            kind: 'at',
            atMillis,
            spec: {
              fault: 'partition',
              target,
              durationMillis: millis(SPLIT_MILLIS),
              params: typeof params === 'function' ? params(random) : params,
            },
          },
        ],
      ),
  };
}

/** Any number: which servers are meant by so many of them. */
function drawnTurn(random: Random): number {
  return random.integer(0, 59);
}

/**
 * A rule for each moment before a request that changes a lock: by the time the cut is in force, the next request of the
 * process is the one that loses its reply. Two rules at work at once hit different processes.
 */
function whenRequesting(
  { commandTimeLimitMillis, ttlMillis }: ScheduleBasis,
  fault: string,
  heldBackMillis: number,
): readonly Step[] {
  return (['acquiring', 'granted', 'renewing'] satisfies Trigger[]).map((event): Step => ({
    kind: 'when',
    event,
    afterMillis: WARM_UP_MILLIS,
    delayMillis: { min: millis(0), max: millis(ttlMillis / 10) },
    limit: 1_000,
    cooldownMillis: commandTimeLimitMillis,
    spec: { fault, target: { kind: 'holder' }, durationMillis: millis(Math.round(heldBackMillis)) },
  }));
}

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
  {
    name: 'partition-clients',
    summary: 'cut a client off from a majority of the lock servers, then another from a minority, and so on',
    faults: ['partition'],
    steps: (basis, random) => {
      const lastsMillis = Math.round(basis.ttlMillis * CUT_OF_TTL);
      return periodic(basis, random, { everyMillis: lastsMillis + 500, lastsMillis }, (atMillis) =>
        (['majority', 'minority'] as const).map((from): Step => ({
          kind: 'at',
          atMillis,
          spec: {
            fault: 'partition',
            target: { kind: 'random-client' },
            durationMillis: millis(lastsMillis),
            params: { from, turn: drawnTurn(random) },
          },
        })),
      );
    },
  },
  splits('isolate-one', 'cut one server off from all others', SERVER, { from: 'servers' }),
  splits(
    'partition-leader',
    'cut the server that leads off from all others, and not from its clients',
    LEAD,
    {
      from: 'servers',
    },
  ),
  splits('isolate-leader', 'cut the server that leads off from all others and from every client', LEAD, {
    from: 'everyone',
  }),
  splits('halves', 'split the servers in two', { kind: 'servers', count: 'half' }, { from: 'servers' }),
  splits(
    'isolate-minority',
    'cut fewer than half of the servers off from the others and from every client',
    { kind: 'servers', count: 'minority' },
    { from: 'everyone' },
  ),
  splits('majorities-ring', 'let each server hear another majority of them', ALL_SERVERS, { shape: 'ring' }),
  splits('bridge', 'split the servers in two, with one between that hears both', ALL_SERVERS, {
    shape: 'bridge',
  }),
  splits('one-way-in', 'let the server that leads hear no other server, while they hear it', LEAD, {
    from: 'servers',
    way: 'in',
  }),
  splits('one-way-out', 'let no other server hear the one that leads, while it hears them', LEAD, {
    from: 'servers',
    way: 'out',
  }),
  splits('partition-servers', 'let no server hear any other, while clients reach them all', ALL_SERVERS, {
    shape: 'islands',
  }),
  {
    name: 'lose-replies',
    summary: 'let requests reach the lock servers and hold their replies back until nobody waits for them',
    faults: ['reply-lost'],
    steps: (basis) => whenRequesting(basis, 'reply-lost', basis.commandTimeLimitMillis * 2),
  },
  {
    name: 'delay-replies',
    summary: 'let requests reach the lock servers and hold their replies back for 1.2 × TTL',
    faults: ['reply-late'],
    steps: (basis) => whenRequesting(basis, 'reply-late', basis.ttlMillis * 1.2),
  },
];
