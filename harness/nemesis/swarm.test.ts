// The swarm: pure, always over in time, and over many seeds every kind of fault with and without every other.

import { describe, expect, it } from 'vitest';
import type { Step } from '../contract/fault.ts';
import { millis } from '../history/op.ts';
import { scenarioNamed, scheduleOf } from './schedule.ts';
import { swarmKinds } from './swarm.ts';
import type { ScheduleBasis } from './timing.ts';

const basis: ScheduleBasis = {
  timeLimitMillis: millis(20_000),
  ttlMillis: millis(1000),
  thinkMillis: { min: millis(30), max: millis(80) },
  commandTimeLimitMillis: millis(500),
  service: { servers: 3, leads: true, promotes: true, startsEmpty: true, notApplicable: [] },
};

const seeds = Array.from({ length: 200 }, (_, seed) => String(seed));
const swarm = (over: Partial<ScheduleBasis>, seed: string): readonly Step[] => {
  const scenario = scenarioNamed('swarm');
  if (scenario === undefined) throw new Error('no such scenario');
  return scheduleOf(scenario, { ...basis, ...over }, seed).steps;
};
const kindsOf = (steps: readonly Step[]): readonly string[] =>
  [...new Set(steps.map(({ spec }) => spec.fault))].toSorted();
const end = (step: Step): number => (step.kind === 'at' ? step.atMillis + step.spec.durationMillis : 0);

describe('swarm', () => {
  it('is the same bytes each time', () => {
    for (const seed of seeds) expect(JSON.stringify(swarm({}, seed))).toBe(JSON.stringify(swarm({}, seed)));
  });

  it.each<[string, Partial<ScheduleBasis>]>([
    ['a short run', { timeLimitMillis: millis(1_000), ttlMillis: millis(5_000) }],
    ['a long lease', { ttlMillis: millis(60_000) }],
    ['a short lease', { ttlMillis: millis(50) }],
    ['as usual', {}],
  ])('ends every fault before the load ends: %s', (_, over) => {
    const limit = over.timeLimitMillis ?? basis.timeLimitMillis;
    for (const seed of seeds) {
      const steps = swarm(over, seed);
      expect(steps.length).toBeGreaterThan(0);
      for (const step of steps) {
        expect(step.kind).toBe('at');
        expect(end(step)).toBeLessThan(limit);
      }
    }
  });

  it('has every kind and every pair of kinds among 200 seeds, overlapping, and none without the other', () => {
    const all = kindsOf(seeds.flatMap((seed) => swarm({}, seed)));
    expect(all).toEqual(swarmKinds.map(({ fault }) => fault).toSorted());
    const chosen = seeds.map((seed) => new Set(kindsOf(swarm({}, seed))));
    const overlapping = new Set(
      seeds.flatMap((seed) => {
        const steps = swarm({}, seed).filter((step) => step.kind === 'at');
        return steps.flatMap((a) =>
          steps
            .filter((b) => a !== b && a.atMillis <= b.atMillis && b.atMillis < end(a))
            .map((b) => [a.spec.fault, b.spec.fault].toSorted().join(' and ')),
        );
      }),
    );
    for (const one of all)
      for (const other of all.filter((kind) => kind > one)) {
        const pair = `${one} and ${other}`;
        expect([...overlapping], pair).toContain(pair);
        expect(
          chosen.some((kinds) => kinds.has(one) && !kinds.has(other)),
          `${one} without ${other}`,
        ).toBe(true);
        expect(
          chosen.some((kinds) => !kinds.has(one) && kinds.has(other)),
          `${other} without ${one}`,
        ).toBe(true);
      }
  });

  it('does to a service only what it can suffer', () => {
    const service = {
      servers: 1,
      leads: false,
      promotes: false,
      startsEmpty: false,
      notApplicable: ['clock-jump', 'slow-fsync'],
    };
    const steps = seeds.flatMap((seed) => swarm({ service }, seed));
    const none = ['failover', 'restart-empty', 'slow-fsync'];
    expect(kindsOf(steps)).toEqual(
      swarmKinds
        .map(({ fault }) => fault)
        .filter((fault) => !none.includes(fault))
        .toSorted(),
    );
    const jumps = steps.filter(({ spec }) => spec.fault === 'clock-jump');
    expect(new Set(jumps.map(({ spec }) => spec.target.kind))).toEqual(new Set(['random-client']));
    expect(steps.filter(({ spec: { target } }) => ['lead', 'follower'].includes(target.kind))).toEqual([]);
  });
});
