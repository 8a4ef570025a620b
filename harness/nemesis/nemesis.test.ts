// The nemesis without Docker: schedules are pure, targets are resolved at injection, and every fault that began has
// ended whatever is thrown (I5, I6). Faults and nodes are small fakes, and time is the test's.

import { describe, expect, it } from 'vitest';
import { fakeClock } from '../client/fakes.fixture.ts';
import type { Node } from '../contract/cluster.ts';
import { HarnessError } from '../contract/errors.ts';
import type { FaultKind, FaultSpec, Schedule, Step } from '../contract/fault.ts';
import { millis, nanos, type FaultEvent, type HistoryEvent } from '../history/op.ts';
import { Nemesis } from './nemesis.ts';
import { plannedFaults, scenarioNamed, scenarios, scheduleOf } from './schedule.ts';
import type { ScheduleBasis } from './timing.ts';
import { Tracker } from './tracker.ts';

const basis: ScheduleBasis = {
  timeLimitMillis: millis(20_000),
  ttlMillis: millis(1000),
  thinkMillis: { min: millis(30), max: millis(80) },
  commandTimeLimitMillis: millis(500),
  service: { servers: 3, leads: true, promotes: true, startsEmpty: true, notApplicable: [] },
};

describe('schedules', () => {
  it.each(scenarios)('$name is a pure function of basis and seed', (scenario) => {
    expect(scheduleOf(scenario, basis, '7')).toEqual(scheduleOf(scenario, basis, '7'));
  });

  it.each(scenarios.filter(({ name }) => !['none', 'fixed', 'swarm'].includes(name)))(
    '$name does something, of the kinds it names',
    (scenario) => {
      const { steps } = scheduleOf(scenario, basis, '7');
      expect(new Set(steps.map(({ spec }) => spec.fault))).toEqual(new Set(scenario.faults));
    },
  );

  it.each(scenarios)('$name ends each timed fault before the load ends', (scenario) => {
    const late = Array.from({ length: 200 }, (_, seed) => scheduleOf(scenario, basis, String(seed)).steps)
      .flat()
      .filter(
        (step) => step.kind === 'at' && step.atMillis + step.spec.durationMillis > basis.timeLimitMillis,
      );
    expect(late).toEqual([]);
  });

  it('is the one that the plan carries, if it does, with the seed of the plan unless it has its own', () => {
    const scenario = scenarioNamed('pause-holder');
    if (scenario === undefined) throw new Error('no such scenario');
    const steps = [at(700, { fault: 'kill' })];
    const schedule = scheduleOf(scenario, { ...basis, schedule: { steps } }, '7');
    expect(schedule).toEqual({ steps, seed: '7' });
    expect(plannedFaults(scenario, schedule)).toEqual(['kill']);
    expect(scheduleOf(scenario, { ...basis, schedule: { steps, seed: 'own' } }, '7').seed).toBe('own');
    expect(plannedFaults(scenario, { steps: [], seed: '7' })).toEqual(['pause']);
  });

  it('differs between seeds where there is chance', () => {
    const scenario = scenarioNamed('kill-server');
    if (scenario === undefined) throw new Error('no such scenario');
    expect(scheduleOf(scenario, basis, '1').steps).not.toEqual(scheduleOf(scenario, basis, '2').steps);
  });
});

/** A node by name only; faults here are fakes and never touch it. */
function fakeNode(name: string): Node {
  const node: Pick<Node, 'name'> = { name };
  return node as Node;
}

interface Rig {
  readonly nemesis: Nemesis;
  readonly events: FaultEvent[];
  readonly inForce: Set<string>;
  readonly observe: (event: HistoryEvent) => void;
  /** Lets 40 ms go by. */
  readonly soon: () => Promise<void>;
}

function rig(
  steps: readonly Step[],
  injectOf?: (node: Node, spec: FaultSpec) => Promise<void>,
  servers: readonly string[] = ['r1'],
): Rig {
  const inForce = new Set<string>();
  const events: FaultEvent[] = [];
  const clock = fakeClock();
  const kind: FaultKind = {
    name: 'pause',
    summary: 'a fake',
    inject: async (nodes, spec) => {
      for (const node of nodes) await injectOf?.(node, spec);
      for (const { name } of nodes) inForce.add(name);
      return {
        evidence: { state: 'T' },
        healed: { state: 'S' },
        [Symbol.asyncDispose]: async () => {
          for (const { name } of nodes) inForce.delete(name);
          if (spec.params?.['breaks'] === true) throw new HarnessError('environment', 'cannot heal');
        },
      };
    },
  };
  const clients = ['c1', 'c2'].map(fakeNode);
  const schedule: Schedule = { steps, seed: '1' };
  const nemesis = new Nemesis({
    schedule,
    kinds: new Map([['pause', kind]]),
    clock,
    servers: servers.map(fakeNode),
    clients,
    nodeOf: (process) => clients.find(({ name }) => name === process),
    append: (event) => {
      if (event.type === 'fault') events.push(event);
      nemesis.observe(event);
    },
  });
  return {
    nemesis,
    events,
    inForce,
    observe: (event) => nemesis.observe(event),
    soon: () => clock.elapse(40),
  };
}

const granted = (id: number, process: string, lock = 'k1'): HistoryEvent[] => [
  { type: 'invoke', id, time: nanos(id), process, op: 'acquire', lock },
  { type: 'ok', id, time: nanos(id), process, op: 'acquire' },
];

const pauseHolder = (over: Partial<Extract<Step, { kind: 'when' }>> = {}): Step => ({
  kind: 'when',
  event: 'granted',
  afterMillis: millis(0),
  delayMillis: { min: millis(0), max: millis(1) },
  limit: 10,
  cooldownMillis: millis(0),
  spec: { fault: 'pause', target: { kind: 'holder' }, durationMillis: millis(10_000) },
  ...over,
});

const at = (atMillis: number, over: Partial<FaultSpec> = {}): Step => ({
  kind: 'at',
  atMillis: millis(atMillis),
  spec: { fault: 'pause', target: { kind: 'server' }, durationMillis: millis(20), ...over },
});

describe('Nemesis', () => {
  it('pauses the process that was granted, and heals it when it is told to stop', async () => {
    const { nemesis, events, inForce, observe, soon } = rig([pauseHolder()]);
    nemesis.start();
    for (const event of granted(1, 'c2')) observe(event);
    await soon();
    expect([...inForce]).toEqual(['c2']);
    await nemesis.heal();
    expect([...inForce]).toEqual([]);
    expect(events.map(({ phase, targets }) => [phase, ...targets])).toEqual([
      ['begin', 'c2'],
      ['acted', 'c2'],
      ['end', 'c2'],
    ]);
  });

  it('does not fire before it is started, nor more often than its limit', async () => {
    const { nemesis, events, observe, soon } = rig([
      pauseHolder({
        limit: 1,
        spec: { fault: 'pause', target: { kind: 'holder' }, durationMillis: millis(1) },
      }),
    ]);
    for (const event of granted(1, 'c1')) observe(event);
    nemesis.start();
    await soon();
    expect(events).toEqual([]);
    for (const event of granted(2, 'c1')) observe(event);
    await soon();
    for (const event of granted(3, 'c1')) observe(event);
    await soon();
    await nemesis.heal();
    expect(events.filter(({ phase }) => phase === 'begin')).toHaveLength(1);
  });

  it('hits who asks for a lock only while there is no answer, and waits for such a one', async () => {
    const { nemesis, events, observe, soon } = rig([
      pauseHolder({ event: 'acquiring', delayMillis: { min: millis(5), max: millis(5) }, limit: 1 }),
    ]);
    nemesis.start();
    for (const event of granted(1, 'c1')) observe(event);
    await soon();
    expect(events).toEqual([]);
    for (const event of granted(2, 'c2').slice(0, 1)) observe(event);
    await soon();
    await nemesis.heal();
    expect(events.map(({ phase, targets }) => [phase, ...targets])).toContainEqual(['acted', 'c2']);
  });

  it('ends a timed fault after its duration', async () => {
    const { nemesis, events, inForce, soon } = rig([at(5)]);
    nemesis.start();
    await soon();
    await soon();
    expect([...inForce]).toEqual([]);
    expect(events.map(({ phase }) => phase)).toEqual(['begin', 'acted', 'end']);
    await nemesis.heal();
  });

  it('accounts for a timed fault that finds no target', async () => {
    const { nemesis, events, soon } = rig([at(5, { target: { kind: 'releaser' } })]);
    nemesis.start();
    await soon();
    await nemesis.heal();
    expect(events.map(({ phase }) => phase)).toEqual(['begin', 'end']);
    expect(events[1]?.evidence).toEqual({ noTarget: 'releaser' });
  });

  it('never puts two faults on one node at a time', async () => {
    const { nemesis, events, soon } = rig([at(1, { durationMillis: millis(10_000) }), at(20)]);
    nemesis.start();
    await soon();
    await nemesis.heal();
    const ends = events.filter(({ phase }) => phase === 'end');
    expect(ends).toHaveLength(2);
    expect(events.filter(({ phase }) => phase === 'acted')).toHaveLength(1);
  });

  it.each([
    ['all', 5],
    ['majority', 3],
    ['minority', 2],
    ['half', 2],
  ] as const)('hits %s of five servers as one fault of %i targets', async (count, wanted) => {
    const five = ['r1', 'r2', 'r3', 'r4', 'r5'];
    const { nemesis, events, inForce, soon } = rig(
      [at(1, { target: { kind: 'servers', count } })],
      undefined,
      five,
    );
    nemesis.start();
    await soon();
    await soon();
    await nemesis.heal();
    expect(events.map(({ phase }) => phase)).toEqual(['begin', 'acted', 'end']);
    expect(new Set(events[0]?.targets).size).toBe(wanted);
    expect([...inForce]).toEqual([]);
  });

  it('has no majority to hit when too few are free', async () => {
    const { nemesis, events, soon } = rig(
      [
        at(1, { durationMillis: millis(10_000), target: { kind: 'servers', count: 'majority' } }),
        at(20, { target: { kind: 'servers', count: 'majority' } }),
      ],
      undefined,
      ['r1', 'r2', 'r3'],
    );
    nemesis.start();
    await soon();
    await nemesis.heal();
    expect(events.find(({ id, phase }) => id === 'f2' && phase === 'end')?.evidence).toEqual({
      noTarget: 'servers',
    });
  });

  it('heals the others when one cannot be injected, and says so', async () => {
    const { nemesis, events, inForce, soon } = rig(
      [
        at(1, { target: { kind: 'nodes', names: ['c1'] }, durationMillis: millis(10_000) }),
        at(5, { target: { kind: 'server' } }),
      ],
      async (node) => {
        if (node.name === 'r1') throw new HarnessError('environment', 'engine is gone');
      },
    );
    nemesis.start();
    await soon();
    expect(nemesis.failed.aborted).toBe(true);
    await expect(nemesis.heal()).rejects.toThrow('engine is gone');
    expect([...inForce]).toEqual([]);
    expect(events.filter(({ phase }) => phase === 'begin')).toHaveLength(2);
    expect(events.filter(({ phase }) => phase === 'end')).toHaveLength(2);
  });

  it('reports an error of healing, after healing everything', async () => {
    const { nemesis, inForce, soon } = rig([
      at(1, {
        target: { kind: 'nodes', names: ['c1'] },
        durationMillis: millis(9_000),
        params: { breaks: true },
      }),
      at(1, { target: { kind: 'nodes', names: ['c2'] }, durationMillis: millis(9_000) }),
    ]);
    nemesis.start();
    await soon();
    expect(inForce.size).toBe(2);
    await expect(nemesis.heal()).rejects.toThrow('cannot heal');
    expect([...inForce]).toEqual([]);
  });

  it('heals when its scope is left by an exception', async () => {
    const { nemesis, inForce, soon } = rig([at(1, { durationMillis: millis(10_000) })]);
    const story = async (): Promise<void> => {
      await using scoped = nemesis;
      scoped.start();
      await soon();
      expect(inForce.size).toBe(1);
      throw new Error('something else broke');
    };
    await expect(story()).rejects.toThrow('something else broke');
    expect([...inForce]).toEqual([]);
  });
});

const acquire = (id: number, process: string, lock: string): HistoryEvent => ({
  type: 'invoke',
  id,
  time: nanos(id),
  process,
  op: 'acquire',
  lock,
});

function pauseAt(target: FaultSpec['target'], fault = 'pause'): FaultSpec {
  return { fault, target, durationMillis: millis(10_000) };
}

function fakeKind(name: string, hurts?: 'network'): FaultKind {
  return {
    name,
    summary: 'a fake',
    ...(hurts && { hurts }),
    inject: async () => ({ evidence: {}, healed: {}, [Symbol.asyncDispose]: async () => {} }),
  };
}

describe('targets among servers', () => {
  const servers = ['r1', 'r2', 'r3', 'r4', 'r5'].map(fakeNode);
  function group(steps: readonly Step[], roles: Readonly<Record<string, string>> = {}) {
    const events: HistoryEvent[] = [];
    const clock = fakeClock();
    const nemesis = new Nemesis({
      schedule: { steps, seed: '1' },
      kinds: new Map([
        ['pause', fakeKind('pause')],
        ['cut', fakeKind('cut', 'network')],
      ]),
      clock,
      servers,
      clients: [],
      askRole: async ({ name }) => {
        const role = roles[name];
        return role === undefined ? undefined : { role };
      },
      nodeOf: () => undefined,
      append: (event) => {
        events.push(event);
        nemesis.observe(event);
      },
    });
    const begun = (): (readonly string[])[] =>
      events.flatMap((event) => (event.type === 'fault' && event.phase === 'begin' ? [event.targets] : []));
    return { nemesis, events, begun, soon: () => clock.elapse(40) };
  }

  const voted = (id: number, granting: number): HistoryEvent => ({
    type: 'ok',
    id,
    time: nanos(id),
    process: 'c1',
    op: 'acquire',
    votes: servers.map(({ name }, index) => ({
      node: name,
      answer: index < granting ? 'granted' : 'unavailable',
      at: nanos(id),
    })),
  });

  it('asks for a role, records the answers, and hits the one that has it', async () => {
    const step: Step = { kind: 'at', atMillis: millis(0), spec: pauseAt({ kind: 'role', role: 'primary' }) };
    const { nemesis, events, begun, soon } = group([step], { r1: 'replica', r2: 'primary' });
    nemesis.start();
    await soon();
    await nemesis.heal();
    expect(begun()).toEqual([['r2']]);
    expect(events.filter(({ type }) => type === 'server')).toMatchObject([
      { node: 'r1', role: 'replica' },
      { node: 'r2', role: 'primary' },
    ]);
  });

  it('hits a voter only when the grant hangs by its vote, and waits for such a grant', async () => {
    const step = pauseHolder({ limit: 1, spec: pauseAt({ kind: 'voter' }) });
    const { nemesis, begun, soon } = group([step]);
    nemesis.start();
    nemesis.observe(voted(1, 5));
    await soon();
    expect(begun()).toEqual([]);
    nemesis.observe(voted(2, 3));
    await soon();
    await nemesis.heal();
    expect(begun()).toHaveLength(1);
    expect(['r1', 'r2', 'r3']).toContain(begun()[0]?.[0]);
  });

  it.each([
    ['all', 3],
    ['majority', 2],
  ] as const)('hits %s of the voters of a grant, and no other server', async (count, wanted) => {
    const { nemesis, begun, soon } = group([
      pauseHolder({ limit: 1, spec: pauseAt({ kind: 'voters', count }) }),
    ]);
    nemesis.start();
    nemesis.observe(voted(1, 3));
    await soon();
    await nemesis.heal();
    expect(begun()[0]).toHaveLength(wanted);
    expect(['r1', 'r2', 'r3']).toEqual(expect.arrayContaining([...(begun()[0] ?? [])]));
  });

  it('fires when exactly so many voted, granted or not', async () => {
    const rule = pauseHolder({
      event: 'voted',
      votes: 2,
      limit: 1,
      spec: pauseAt({ kind: 'voters', count: 'all' }),
    });
    const { nemesis, begun, soon } = group([rule]);
    nemesis.start();
    nemesis.observe(voted(1, 3));
    nemesis.observe({ ...voted(2, 2), type: 'fail' } as HistoryEvent);
    await soon();
    await nemesis.heal();
    expect(begun().map((targets) => targets.toSorted())).toEqual([['r1', 'r2']]);
  });

  it('hits one that follows, and the one that leads, whatever the service calls them', async () => {
    const { nemesis, begun, soon } = group(
      [
        { kind: 'at', atMillis: millis(0), spec: pauseAt({ kind: 'lead' }) },
        { kind: 'at', atMillis: millis(15), spec: pauseAt({ kind: 'follower' }) },
      ],
      { r3: 'leader', r4: 'follower', r5: 'sentinel' },
    );
    nemesis.start();
    await soon();
    await nemesis.heal();
    expect(begun()).toEqual([['r3'], ['r4']]);
  });

  it('sees a server promoted, and not one that led before or is seen for the first time', async () => {
    const rule = pauseHolder({ event: 'promoted', limit: 5, spec: pauseAt({ kind: 'lead' }) });
    const roles: Record<string, string> = { r1: 'primary', r2: 'replica' };
    const { nemesis, begun, soon } = group([rule], roles);
    nemesis.start();
    await soon();
    expect(begun()).toEqual([]);
    roles['r2'] = 'primary';
    for (let waited = 0; waited < 100; waited += 40) await soon();
    await nemesis.heal();
    expect(begun()).toEqual([['r2']]);
  });

  it('hits different servers with faults that begin at the same time', async () => {
    const rule = pauseHolder({ limit: 1, spec: pauseAt({ kind: 'follower' }) });
    const roles = Object.fromEntries(servers.map(({ name }) => [name, 'replica']));
    const { nemesis, begun, soon } = group([rule, rule, rule, rule, rule], roles);
    nemesis.start();
    nemesis.observe(voted(1, 5));
    await soon();
    await nemesis.heal();
    expect(begun().flat().toSorted()).toEqual(['r1', 'r2', 'r3', 'r4', 'r5']);
  });

  it('finds the server that is cut off, and hurts its process as well', async () => {
    const { nemesis, begun, soon } = group([
      { kind: 'at', atMillis: millis(0), spec: pauseAt({ kind: 'nodes', names: ['r4'] }, 'cut') },
      { kind: 'at', atMillis: millis(15), spec: pauseAt({ kind: 'cut-off' }) },
    ]);
    nemesis.start();
    await soon();
    await nemesis.heal();
    expect(begun()).toEqual([['r4'], ['r4']]);
  });
});

const busy = (id: number, process: string, lock: string): HistoryEvent[] => [
  acquire(id, process, lock),
  { type: 'fail', id, time: nanos(id), process, op: 'acquire', error: 'busy' },
];

describe('Tracker', () => {
  it('knows holders, the last granted last, until they ask to release', () => {
    const tracker = new Tracker();
    for (const event of [...granted(1, 'c1', 'k1'), ...granted(2, 'c2', 'k2')]) tracker.observe(event);
    expect(tracker.holders()).toEqual(['c1', 'c2']);
    tracker.observe({ type: 'invoke', id: 3, time: nanos(3), process: 'c1', op: 'release', lock: 'k1' });
    expect(tracker.holders()).toEqual(['c2']);
    expect(tracker.inFlight('release')).toEqual(['c1']);
  });

  it('counts a lock taken over while held, unless a release arrives late that was sent before', () => {
    const tracker = new Tracker();
    for (const event of [...granted(1, 'c1'), ...granted(5, 'c2')]) tracker.observe(event);
    expect(tracker.takeovers).toBe(1);
    tracker.observe({ type: 'invoke', id: 7, time: nanos(7), process: 'c1', op: 'release', lock: 'k1' });
    expect(tracker.takeovers).toBe(1);
    tracker.observe({ type: 'invoke', id: 4, time: nanos(4), process: 'c1', op: 'release', lock: 'k1' });
    expect(tracker.takeovers).toBe(0);
    expect(tracker.holders()).toEqual(['c2']);
  });

  it('names who waits for a lock: for the asked one first, then for held ones', () => {
    const tracker = new Tracker();
    for (const event of [
      ...granted(1, 'c1', 'k1'),
      ...busy(2, 'c2', 'k3'),
      ...busy(3, 'c3', 'k2'),
      ...busy(4, 'c4', 'k1'),
    ])
      tracker.observe(event);
    expect(tracker.waiters('k3')).toEqual(['c2', 'c4', 'c3']);
    tracker.observe({ type: 'down', time: nanos(5), process: 'c2', reason: 'killed' });
    for (const event of granted(6, 'c4', 'k1')) tracker.observe(event);
    expect(tracker.waiters(undefined)).toEqual(['c3']);
    const release: HistoryEvent = { type: 'ok', id: 7, time: nanos(9), process: 'c4', op: 'release' };
    tracker.observe({ type: 'invoke', id: 7, time: nanos(8), process: 'c4', op: 'release', lock: 'k1' });
    expect(tracker.lockOf(release)).toBe('k1');
  });

  it('names acquirers of free locks first and forgets the dead', () => {
    const tracker = new Tracker();
    for (const event of granted(1, 'c1', 'k1')) tracker.observe(event);
    tracker.observe(acquire(2, 'c2', 'k1'));
    tracker.observe(acquire(3, 'c3', 'k2'));
    expect(tracker.inFlight('acquire')).toEqual(['c3', 'c2']);
    tracker.observe({ type: 'down', time: nanos(4), process: 'c3', reason: 'killed' });
    expect(tracker.inFlight('acquire')).toEqual(['c2']);
  });
});
