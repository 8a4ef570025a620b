// The scenario `swarm`: what a timer can do at random. Per seed each kind of fault that the service can suffer is
// switched on or off, and those that are on overlap, at random times, on random targets, for random durations. Kinds
// that are always on would hide what only happens without one of them (Groce et al., "Swarm testing", ISSTA 2012).
// A pure function of plan and seed, as the scenarios in `schedule.ts`.

import type { FaultSpec, Step, TargetSelector } from '../contract/fault.ts';
import type { Random } from '../contract/workload.ts';
import { millis, type JsonRecord } from '../history/op.ts';
import { WARM_UP_MILLIS, type Scenario, type ScheduleBasis, type ServiceTraits } from './timing.ts';

/** A kind of fault as the swarm uses it. */
interface SwarmKind {
  readonly fault: string;
  /** Whom it may hit; nobody: the service cannot suffer it. */
  readonly targets: (service: ServiceTraits) => readonly TargetSelector[];
  /** One of these; absent: none are needed. */
  readonly params?: (basis: ScheduleBasis) => readonly JsonRecord[];
  /** Over at once. */
  readonly momentary?: true;
}

const CLIENTS = [{ kind: 'holder' }, { kind: 'waiter' }, { kind: 'random-client' }] as const;
const SERVER = { kind: 'server' } as const;

/** One server, or the one that leads, or one that follows. */
function servers({ leads }: ServiceTraits): readonly TargetSelector[] {
  return leads ? [SERVER, { kind: 'lead' }, { kind: 'follower' }] : [SERVER];
}

const anybody = (service: ServiceTraits): readonly TargetSelector[] => [...CLIENTS, ...servers(service)];

/** Servers are left out where the fault cannot hurt them. */
function serversBut(fault: string): SwarmKind['targets'] {
  return (service) => (service.notApplicable.includes(fault) ? [] : servers(service));
}

function clock(fault: string, params: NonNullable<SwarmKind['params']>): SwarmKind {
  return {
    fault,
    targets: (service) => [{ kind: 'random-client' }, ...serversBut(fault)(service)],
    params,
  };
}

const FROM_SERVERS: readonly JsonRecord[] = [{ from: 'servers' }, { from: 'one-server' }];

/** All but `disk-full`: a server that ends of it and is killed besides would have two to start it again. */
export const swarmKinds: readonly SwarmKind[] = [
  { fault: 'pause', targets: anybody },
  { fault: 'stall', targets: servers },
  { fault: 'kill', targets: anybody },
  { fault: 'restart-empty', targets: ({ startsEmpty }) => (startsEmpty ? [SERVER] : []) },
  {
    fault: 'partition',
    targets: (service) => (service.servers > 1 ? anybody(service) : CLIENTS),
    params: () => [...FROM_SERVERS, { from: 'servers', way: 'in' }, { from: 'servers', way: 'out' }],
  },
  { fault: 'reply-lost', targets: () => CLIENTS, params: () => FROM_SERVERS },
  {
    fault: 'failover',
    targets: ({ promotes }) => (promotes ? [SERVER] : []),
    params: () => [{ to: 'least' }, { to: 'furthest' }],
    momentary: true,
  },
  clock('clock-jump', ({ ttlMillis }) => [{ byMillis: 2 * ttlMillis }, { byMillis: -2 * ttlMillis }]),
  clock('clock-drift', () => [{ rate: 3 }, { rate: 0.5 }]),
  clock('clock-strobe', ({ ttlMillis }) => [{ byMillis: 2 * ttlMillis, phaseMillis: ttlMillis / 4 }]),
  { fault: 'cpu-starve', targets: servers },
  {
    fault: 'slow-fsync',
    targets: serversBut('slow-fsync'),
    params: ({ ttlMillis }) => [{ delayMillis: ttlMillis / 10 }],
  },
];

/** On average so many faults begin in a TTL, each lasting up to two: so they overlap. */
const FAULTS_PER_TTL = 1;
const SHORTEST_MILLIS = 100;

function swarmSteps(basis: ScheduleBasis, random: Random): readonly Step[] {
  const { service, ttlMillis, timeLimitMillis } = basis;
  const possible = swarmKinds.filter(({ targets }) => targets(service).length > 0);
  const drawn = possible.filter(() => random.integer(0, 1) === 1);
  const enabled = drawn.length > 0 ? drawn : [random.pick(possible)];
  const steps: Step[] = [];
  // Each kind that is on happens at least once.
  const owed = [...enabled];
  const gapMillis = Math.min(ttlMillis / FAULTS_PER_TTL, timeLimitMillis / (2 * enabled.length + 2));
  for (let at: number = WARM_UP_MILLIS; ; at += random.real(0, 2 * gapMillis)) {
    const leftMillis = timeLimitMillis - at - SHORTEST_MILLIS;
    if (leftMillis <= SHORTEST_MILLIS && owed.length === 0) return steps;
    const begins: number = leftMillis > SHORTEST_MILLIS ? at : WARM_UP_MILLIS;
    const kind = owed.pop() ?? random.pick(enabled);
    steps.push({
      kind: 'at',
      atMillis: millis(Math.round(begins)),
      spec: drawSpec(kind, { basis, random, longestMillis: timeLimitMillis - begins - SHORTEST_MILLIS }),
    });
  }
}

function drawSpec(
  { targets, params, fault, momentary }: SwarmKind,
  site: { readonly basis: ScheduleBasis; readonly random: Random; readonly longestMillis: number },
): FaultSpec {
  const { basis, random, longestMillis } = site;
  const { ttlMillis, service } = basis;
  const target = random.pick(targets(service));
  // Half of them well within a lease, half of them past its end.
  const wanted =
    random.integer(0, 1) === 0
      ? random.real(SHORTEST_MILLIS, Math.max(SHORTEST_MILLIS, ttlMillis / 2))
      : random.real(ttlMillis, 2 * ttlMillis);
  const durationMillis = momentary === true ? 0 : Math.max(0, Math.round(Math.min(wanted, longestMillis)));
  return {
    fault,
    target,
    durationMillis: millis(durationMillis),
    ...(params !== undefined && { params: random.pick(params(basis)) }),
  };
}

export const swarmScenario: Scenario = {
  name: 'swarm',
  summary: 'kinds of faults switched on or off by the seed; those that are on overlap at random',
  faults: swarmKinds.map(({ fault }) => fault),
  steps: swarmSteps,
};
