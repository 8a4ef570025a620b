// The plan's parser: complete plans come out, wrong input is refused with the field and the nearest names.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HarnessError } from '../contract/errors.ts';
import { cellName } from './cell-name.ts';
import { known, parsePlan, type PlanInput, type Vocabulary } from './plan.ts';
import { differingFlags } from '../settings/plan-flags.ts';
import { scheduleJsonSchema } from './schedule-format.ts';

const vocabulary: Vocabulary = {
  backends: [
    {
      name: 'redis-single',
      recipes: [{ name: 'set-nx-px' }, { name: 'watchdog' }],
      servers: () => [{ name: 'r1' }],
    },
  ],
  workloads: ['counter', 'long-hold'],
  defences: ['none', 'version-cas'],
  scenarios: ['none', 'pause-holder', 'kill-server', 'fixed'],
  faults: ['pause', 'kill'],
  images: ['redis'],
};

const minimal: PlanInput = { backend: 'redis-single', seed: '1' };

function refusal(...layers: PlanInput[]): HarnessError {
  try {
    parsePlan(vocabulary, minimal, ...layers);
  } catch (error) {
    if (error instanceof HarnessError) return error;
    throw error;
  }
  throw new Error('the plan was accepted');
}

describe('parsePlan', () => {
  it('fills what is left open with defaults and the first recipe', () => {
    const plan = parsePlan(vocabulary, minimal);
    expect(plan).toMatchObject({ recipe: 'set-nx-px', fault: 'pause-holder', ttlMillis: 1000, clients: 5 });
    expect(plan.thinkMillis).toEqual({ min: 30, max: 80 });
  });

  it('lets later layers win and undefined change nothing', () => {
    const plan = parsePlan(
      vocabulary,
      minimal,
      { ttlMillis: '2s', locks: 9 },
      { ttlMillis: '700ms', locks: undefined },
    );
    expect(plan).toMatchObject({ ttlMillis: 700, locks: 9 });
  });

  it('reads its own output back unchanged', () => {
    const plan = parsePlan(vocabulary, minimal, { thinkMillis: '0', images: { redis: 'redis:8.4' } });
    expect(parsePlan(vocabulary, JSON.parse(JSON.stringify(plan)))).toEqual(plan);
  });

  it.each([
    [{ backend: 'redis-singel' }, /unknown backend "redis-singel"/, /redis-single/],
    [{ recipe: 'watchdo' }, /unknown recipe "watchdo"/, /watchdog/],
    [{ fault: 'pause' }, /unknown fault "pause"/, /pause-holder/],
    [{ workload: 'zzz' }, /unknown workload "zzz"/, /known: counter, long-hold/],
    [{ ttl: '1s' }, /unknown plan field "ttl"/, /ttlMillis/],
    [{ images: { rediss: 'x' } }, /unknown image "rediss"/, /redis/],
  ] satisfies [object, RegExp, RegExp][])('refuses %j and names the nearest', (layer, message, remedy) => {
    const error = refusal(layer as PlanInput);
    expect(error.code).toBe('usage');
    expect(error.message).toMatch(message);
    expect(error.remedy).toMatch(remedy);
  });

  it.each([
    [{ ttlMillis: 'soon' }, /ttlMillis.*"soon" is not a duration/],
    [{ ttlMillis: '10' }, /ttlMillis.*is not a duration/],
    [{ ttlMillis: '1ms' }, /ttlMillis.*50ms/],
    [{ timeLimitMillis: '0' }, /timeLimitMillis.*1s/],
    [{ clients: 0 }, /clients/],
    [{ clients: 'many' }, /clients/],
    [{ clients: ' ' }, /clients: must be a number$/],
    [{ minContendedHandoffs: '' }, /minContendedHandoffs: must be a number$/],
    [{ cutWrites: true }, /cutWrites: must be a number$/],
    [{ locks: 1.5 }, /locks/],
    [{ thinkMillis: '80ms..30ms' }, /thinkMillis.*"80ms..30ms" is not a span/],
    [{ thinkMillis: 7 }, /thinkMillis.*is not a span/],
    [{ seed: '' }, /seed/],
    [{ cutWrites: 1.5 }, /cutWrites/],
    [{ defences: 'none,version-csa' }, /unknown defence "version-csa"/],
    [{ defences: [] }, /defences/],
  ] satisfies [object, RegExp][])('refuses %j and names the field', (layer, message) => {
    expect(refusal(layer).message).toMatch(message);
  });

  it('cannot be changed afterwards', () => {
    expect(Object.isFrozen(parsePlan(vocabulary, minimal))).toBe(true);
  });
});

describe('names and flags', () => {
  it('names a cell, and its workload only where it is another than the default', () => {
    const plan = parsePlan(vocabulary, minimal);
    expect(cellName(plan)).toBe('redis-single/set-nx-px/pause-holder');
    expect(cellName({ ...plan, workload: 'long-hold' })).toBe(
      'redis-single/set-nx-px/pause-holder/long-hold',
    );
  });

  it('writes the flags by which two plans differ, with units', () => {
    const base = parsePlan(vocabulary, minimal);
    const plan = parsePlan(vocabulary, minimal, { ttlMillis: '1500ms', thinkMillis: '0', locks: 7 });
    expect(differingFlags(plan, base)).toEqual(['--ttl 1.5s', '--locks 7', '--think 0ms']);
    const stores = parsePlan(vocabulary, minimal, { defences: 'version-cas,none', cutWrites: '0.01' });
    expect(stores.defences).toEqual(['version-cas', 'none']);
    expect(differingFlags(stores, base)).toEqual(['--defences version-cas,none', '--cut-writes 0.01']);
    expect(differingFlags(base, base)).toEqual([]);
  });

  it('says when nothing was given', () => {
    expect(() => known('recipe', undefined, ['a'])).toThrow('no recipe given');
  });
});

describe('the schedule of a plan', () => {
  const spec = { fault: 'pause', target: { kind: 'holder' }, durationMillis: 500 };
  const at = (over: object): PlanInput => ({
    fault: 'fixed',
    timeLimitMillis: '10s',
    schedule: { steps: [{ kind: 'at', atMillis: 1_000, spec, ...over }] },
  });
  const when = {
    kind: 'when',
    event: 'granted',
    afterMillis: 500,
    delayMillis: { min: 0, max: 10 },
    limit: 3,
    cooldownMillis: 0,
    spec,
  };
  const of = (...steps: object[]): PlanInput => ({ ...at({}), schedule: { steps } });

  it('is kept as it was written', () => {
    expect(parsePlan(vocabulary, minimal, of(when)).schedule).toEqual({ steps: [when] });
  });

  it.each<[string, PlanInput, string]>([
    ['no schedule', { fault: 'fixed' }, '--schedule'],
    ['an unknown fault', at({ spec: { ...spec, fault: 'paus' } }), 'schedule.steps.0.spec.fault'],
    [
      'an unknown target',
      at({ spec: { ...spec, target: { kind: 'boss' } } }),
      'schedule.steps.0.spec.target.kind',
    ],
    ['an unknown node', at({ spec: { ...spec, target: { kind: 'nodes', names: ['c6'] } } }), '"c6"'],
    [
      'a parameter of another fault',
      at({ spec: { ...spec, params: { byMillis: 3 } } }),
      'schedule.steps.0.spec.params.byMillis: no parameter of pause',
    ],
    ['an end past the load', at({ atMillis: 9_800 }), 'steps.0: its end, 10.3s'],
    ['a rule past the load', of({ ...when, afterMillis: 10_000 }), 'schedule.steps.0.afterMillis'],
    ['an unknown event', of({ ...when, event: 'bored' }), 'schedule.steps.0.event'],
    ['votes of another event', of({ ...when, votes: 3 }), 'schedule.steps.0.votes'],
    ['no votes', of({ ...when, event: 'voted' }), 'schedule.steps.0.votes'],
    ['a delay upside down', of({ ...when, delayMillis: { min: 5, max: 1 } }), 'schedule.steps.0.delayMillis'],
    ['a negative time', at({ atMillis: -1 }), 'schedule.steps.0.atMillis'],
    ['an unknown key', at({ until: 3 }), 'schedule.steps.0'],
    ['no steps', { ...at({}), schedule: {} }, 'schedule.steps'],
    ['a text', { ...at({}), schedule: 'often' }, 'schedule'],
  ])('is refused with the place: %s', (_, layer, words) => {
    const error = refusal(layer);
    expect(error.message).toContain(words);
    expect(error.code).toBe('usage');
  });

  it('knows the nearest names', () => {
    expect(refusal(at({ spec: { ...spec, fault: 'paus' } })).remedy).toContain('pause');
  });

  it('is what the published JSON Schema says', () => {
    const path = join(import.meta.dirname, '../../docs/schedule.schema.json');
    const current = `${JSON.stringify(scheduleJsonSchema(), null, 2)}\n`;
    if (process.env['UPDATE_SCHEMA'] !== undefined) writeFileSync(path, current);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(JSON.parse(current));
  });
});
