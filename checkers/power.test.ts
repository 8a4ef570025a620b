// Power: what is counted, and which shortage makes a clean result mean nothing.

import { describe, expect, it } from 'vitest';
import { grantColumnsOf } from '../harness/history/grants.ts';
import type { History } from '../harness/history/history.ts';
import { powerOf } from './power.ts';
import { granted, historyOf, released, step, type Step } from './scenario.fixture.ts';
import type { Power } from './verdict.ts';

function power(history: History): Power {
  return powerOf(history, grantColumnsOf(history), []);
}

function warned(history: History): string[] {
  return power(history).warnings.map(({ code, decisive }) => `${code}${decisive ? '' : ' (not decisive)'}`);
}

const busy = { type: 'fail', error: 'busy' };
/** c1 has the lock until 100 ms; c2 was refused meanwhile and has it after. */
const handedOver: readonly Step[] = [
  granted(1, 'c1', [0, 10]),
  granted(2, 'c2', [40, 50], busy),
  released(3, 'c1', [100, 110]),
  granted(4, 'c2', [120, 130]),
  released(5, 'c2', [200, 210]),
];

type Fields = NonNullable<Parameters<typeof historyOf>[2]>;

interface Span {
  readonly fault: string;
  readonly targets: readonly string[];
  readonly begin: number;
  readonly acted?: number;
  readonly end?: number;
}

function faulted(...spans: readonly Span[]): Fields {
  return spans.flatMap(({ fault, targets, ...phases }, index) =>
    Object.entries(phases).map(([phase, time]) => ({
      type: 'fault',
      id: `f${index + 1}`,
      fault,
      targets,
      phase,
      time,
    })),
  );
}

function handoffs(steps: readonly Step[]): number {
  return power(historyOf(steps)).contendedHandoffs;
}

/** The messages of `handedOver` under faults that did nothing, and say so. */
function excuses(...reasons: readonly (string | undefined)[]): string[] {
  const events = reasons.flatMap((reason, index) => {
    const fault = { type: 'fault', id: `f${index + 1}`, fault: 'clock-jump', targets: ['e1'] };
    const evidence = reason === undefined ? {} : { notApplicable: reason };
    return [
      { ...fault, phase: 'begin', time: 40 },
      { ...fault, phase: 'end', time: 90, evidence },
    ];
  });
  return power(historyOf(handedOver, {}, events)).warnings.map(({ message }) => message);
}

/** The warnings of `handedOver` with this clock error. */
function uncertain(clockErrorNanos: number, meta = {}): string[] {
  return warned(historyOf(handedOver, { clockErrorNanos, meta }));
}

describe('a fault that is not applicable', () => {
  it('is named with its reason, once, and makes the run inconclusive', () => {
    expect(excuses('a lease runs on the monotonic clock', 'a lease runs on the monotonic clock')).toEqual([
      'none of 2 faults was proved to act; clock-jump is not applicable: a lease runs on the monotonic clock',
    ]);
    expect(excuses(undefined)).toEqual(['none of 1 faults was proved to act']);
  });
});

describe('a contended hand-off', () => {
  it('is to a process that was refused while another had the lock', () => {
    expect(handoffs(handedOver)).toBe(1);
    expect(handoffs(handedOver.filter(({ id }) => id !== 2))).toBe(0);
    // Refused before the other was granted it: by whom, nobody knows.
    expect(handoffs([granted(9, 'c2', [-20, 5], busy), ...handedOver.filter(({ id }) => id !== 2)])).toBe(0);
  });

  it('is to a process that was waiting', () => {
    expect(
      handoffs([granted(1, 'c1', [0, 10]), released(3, 'c1', [100, 110]), granted(4, 'c2', [50, 130])]),
    ).toBe(1);
    expect(
      handoffs([granted(1, 'c1', [0, 10]), released(3, 'c1', [100, 110]), granted(4, 'c2', [100, 130])]),
    ).toBe(0);
  });

  it('may follow an attempt that is still unanswered', () => {
    const unanswered = step(2, 'c2', 'acquire', [5], { lock: 'k1', ttlMillis: 1000 });
    expect(
      handoffs([handedOver[0], unanswered, ...handedOver.slice(2)].filter((one) => one !== undefined)),
    ).toBe(1);
  });

  it('is to another process, on the same lock', () => {
    expect(
      handoffs([granted(1, 'c1', [0, 10]), granted(2, 'c1', [40, 50], busy), granted(4, 'c1', [120, 130])]),
    ).toBe(0);
    const other = step(4, 'c2', 'acquire', [50, 130], { lock: 'k2', ttlMillis: 1000 });
    expect(handoffs([granted(1, 'c1', [0, 10]), released(3, 'c1', [100, 110]), other])).toBe(0);
  });
});

describe('power', () => {
  it('counts grants, and expiries of leases that their holder did not give back in time', () => {
    expect(power(historyOf(handedOver))).toMatchObject({ grants: 2, expiries: 0, contendedHandoffs: 1 });
    const outlived = [granted(1, 'c1', [0, 10]), released(2, 'c1', [1500, 1510], { released: false })];
    expect(power(historyOf(outlived)).expiries).toBe(1);
    expect(power(historyOf([granted(1, 'c1', [0, 10]), granted(2, 'c2', [2000, 2010])])).expiries).toBe(2);
    const died = { type: 'down', process: 'c1', reason: 'killed', time: 100 };
    expect(power(historyOf([granted(1, 'c1', [0, 10])], {}, [died])).expiries).toBe(1);
  });

  it('bounds the rate of what was not seen by 3/N', () => {
    const history = historyOf(handedOver);
    expect(power(history).rateBound).toBe(3);
    const double = {
      code: 'double-grant',
      id: '',
      processes: [],
      ops: [],
      at: history.end,
      faults: [],
      story: '',
      evidence: {},
    } as const;
    expect(powerOf(history, grantColumnsOf(history), [double]).rateBound).toBeNull();
    expect(power(historyOf([])).rateBound).toBeNull();
  });

  it.each<[what: string, span: Span, acted: number, hitHold: number]>([
    ['a pause of the holder', { fault: 'pause', targets: ['c1'], begin: 40, acted: 50, end: 90 }, 1, 1],
    [
      'a pause that lasts into the hold',
      { fault: 'pause', targets: ['c1'], begin: 1, acted: 2, end: 50 },
      1,
      1,
    ],
    [
      'one that acted after the hold',
      { fault: 'pause', targets: ['c1'], begin: 90, acted: 101, end: 150 },
      1,
      0,
    ],
    ['one of somebody else', { fault: 'pause', targets: ['c2'], begin: 40, acted: 50, end: 90 }, 1, 0],
    ['one that was not proved to act', { fault: 'pause', targets: ['c1'], begin: 40, end: 90 }, 0, 0],
    ['one of the server', { fault: 'pause', targets: ['r1'], begin: 140, acted: 150, end: 160 }, 1, 1],
    [
      'one of the server while nobody held anything',
      { fault: 'pause', targets: ['r1'], begin: 300, acted: 310, end: 320 },
      1,
      0,
    ],
    ['one that did not end', { fault: 'pause', targets: ['c2'], begin: 101, acted: 102 }, 1, 1],
  ])('counts %s', (_, span, acted, hitHold) => {
    expect(power(historyOf(handedOver, {}, faulted(span))).faults).toEqual({ planned: 1, acted, hitHold });
  });

  it('counts a kill from when it began: the victim believes nothing by the time it is proved', () => {
    const killed = [granted(1, 'c3.2', [0, 10])];
    const down = { type: 'down', process: 'c3.2', reason: 'killed', time: 40 };
    const kill = faulted({ fault: 'kill', targets: ['c3'], begin: 40, acted: 60, end: 900 });
    expect(power(historyOf(killed, {}, [down, ...kill])).faults.hitHold).toBe(1);
    const pause = faulted({ fault: 'pause', targets: ['c3'], begin: 40, acted: 60, end: 900 });
    expect(power(historyOf(killed, {}, [down, ...pause])).faults.hitHold).toBe(0);
  });
});

const watched = (first: number, second = 3): Fields => [
  { type: 'harness', since: 0, time: 1000, loopDelayMillis: first, cpuWaitMillis: 900.5 },
  { type: 'harness', since: 1000e6, time: 2000, loopDelayMillis: second },
];
/** Two seconds in which some process waited for a processor for so long. */
const starved = (waited: Readonly<Record<string, number>>): Fields => [
  { type: 'harness', since: 0, time: 1000, loopDelayMillis: 3, ...waited },
  { type: 'harness', since: 1000e6, time: 2000, loopDelayMillis: 3, ...waited },
];

describe('a warning', () => {
  const pause: Span = { fault: 'pause', targets: ['c1'], begin: 40, acted: 50, end: 90 };

  it('is not given where enough was tried', () => {
    expect(warned(historyOf(handedOver))).toEqual([]);
    expect(warned(historyOf(handedOver, { meta: { plannedFaults: ['pause'] } }, faulted(pause)))).toEqual([]);
  });

  it('is given if there was too little load', () => {
    expect(warned(historyOf([]))).toEqual(['too-little-load']);
    expect(warned(historyOf([], { meta: { minContendedHandoffs: 0 } }))).toEqual(['too-little-load']);
    expect(warned(historyOf([granted(1, 'c1', [0, 10])]))).toEqual(['too-little-load']);
    expect(warned(historyOf([granted(1, 'c1', [0, 10])], { meta: { minContendedHandoffs: 0 } }))).toEqual([]);
    expect(warned(historyOf(handedOver, { meta: { minContendedHandoffs: 2 } }))).toEqual(['too-little-load']);
  });

  it('is given if no fault acted', () => {
    const idle: Span = { fault: 'pause', targets: ['c1'], begin: 40, end: 90 };
    expect(warned(historyOf(handedOver, { meta: { plannedFaults: ['pause'] } }))).toEqual([
      'fault-had-no-effect',
    ]);
    expect(warned(historyOf(handedOver, {}, faulted(idle)))).toEqual(['fault-had-no-effect']);
    expect(warned(historyOf(handedOver, {}, faulted(pause, idle)))).toEqual([
      'fault-had-no-effect (not decisive)',
    ]);
  });

  it('is given if a kind of fault that was planned never began, whatever others did', () => {
    const planned = { meta: { plannedFaults: ['pause', 'kill'] } };
    expect(warned(historyOf(handedOver, planned, faulted(pause)))).toEqual([
      'fault-had-no-effect (not decisive)',
    ]);
  });

  it('is given if faults acted and met nothing', () => {
    const missed: Span = { fault: 'pause', targets: ['c1'], begin: 300, acted: 310, end: 320 };
    expect(warned(historyOf(handedOver, {}, faulted(missed)))).toEqual(['fault-had-no-effect']);
    expect(warned(historyOf(handedOver, {}, faulted(missed, pause)))).toEqual([]);
  });

  it.each<[what: string, span: Span, met: boolean]>([
    ['an acquire that was granted', { fault: 'kill', targets: ['c1'], begin: 2, acted: 3, end: 5 }, true],
    ['a release', { fault: 'pause', targets: ['c1'], begin: 101, acted: 102, end: 105 }, true],
    ['a try that was refused', { fault: 'pause', targets: ['c2'], begin: 41, acted: 42, end: 45 }, false],
  ])('takes a fault that met %s for something or nothing', (_, span, met) => {
    expect(warned(historyOf(handedOver, {}, faulted(span)))).toEqual(met ? [] : ['fault-had-no-effect']);
  });

  it('is given if the clocks are too uncertain for the leases', () => {
    expect(uncertain(100e6)).toEqual([]);
    expect(uncertain(100e6 + 1)).toEqual(['clock-uncertain']);
    expect(uncertain(100e6 + 1, { ttlMillis: 10_000 })).toEqual([]);
    expect(uncertain(2e6, { ttlMillis: 10 })).toEqual(['clock-uncertain']);
  });

  it('is given if, without leases, most holds are too short to be seen', () => {
    const forGood = handedOver.map((one) => ({ ...one, asks: { lock: 'k1' } }));
    expect(warned(historyOf(forGood, { clockErrorNanos: 20e6 }))).toEqual([]);
    expect(warned(historyOf(forGood, { clockErrorNanos: 50e6 }))).toContain('clock-uncertain');
  });

  it('is given if the harness itself stood still, but decides nothing', () => {
    expect(warned(historyOf(handedOver, {}, watched(249)))).toEqual([]);
    expect(warned(historyOf(handedOver, {}, watched(250)))).toEqual(['harness-stalled (not decisive)']);
    const message = (first: number, second: number): string =>
      power(historyOf(handedOver, {}, watched(first, second)))
        .warnings.map((one) => one.message)
        .join();
    expect(message(250, 3)).toContain('once, first at 0.000 s: for 1.0 s');
    expect(message(250, 250)).toContain('once, first at 0.000 s: for 2.0 s');
  });

  it.each(['cpuWaitMillis', 'cpuStolenMillis'])('is given if the machine was too busy, by %s', (field) => {
    const warnings = (millis: number) =>
      power(historyOf(handedOver, {}, starved({ [field]: millis }))).warnings;
    expect(warnings(699)).toEqual([]);
    expect(warnings(700)).toMatchObject([{ code: 'harness-stalled', decisive: false }]);
    expect(warnings(1004)[0]?.message).toContain('for 100 % of the time');
  });
});

function ask(id: number, process: string, span: Step['span'], asks = {}): Step {
  return step(id, process, 'acquire', span, { lock: 'k1', ttlMillis: 1000, ...asks });
}

describe('hand-offs where several may have the lock', () => {
  const meta = { kind: 'semaphore', permits: 2 };
  const full = [ask(1, 'c1', [0, 10]), ask(2, 'c2', [20, 30]), released(3, 'c1', [100, 110])];

  it('are those to one who waited until a permit was given back', () => {
    expect(power(historyOf([...full, ask(4, 'c3', [50, 120])], { meta })).contendedHandoffs).toBe(1);
    expect(power(historyOf([...full, ask(4, 'c3', [115, 120])], { meta })).contendedHandoffs).toBe(0);
    expect(power(historyOf(full, { meta })).contendedHandoffs).toBe(0);
    expect(power(historyOf(full)).contendedHandoffs).toBe(1);
  });

  it('are none among those who share', () => {
    const read = { shared: true };
    const sharing = [ask(1, 'c1', [0, 10], read), ask(2, 'c2', [5, 30], read), released(3, 'c1', [100, 110])];
    expect(handoffs(sharing)).toBe(0);
    expect(handoffs([...sharing, ask(4, 'c3', [50, 120])])).toBe(1);
  });
});
