// What `replay` and `--schedule` refuse, in the words of their user and before anything is started.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FindingCode } from '../../checkers/verdict.ts';
import { HarnessError } from '../contract/errors.ts';
import { parsePlan } from '../plan/plan.ts';
import { reproduces, type Shown } from '../stored/reproduction.ts';
import { runDirectory } from '../stored/results.ts';
import type { Choices } from '../settings/settings.ts';
import { replayCommand as commandFor, storedPlanText } from '../stored/stored-run.ts';
import { vocabulary } from '../plan/vocabulary.ts';
import { plansOf } from './plans.ts';
import { exitCodeOf, replayCommand } from './replay.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockpick-replay-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const flag = (name: string, value: string): [string, { value: string; from: 'flag'; written: string }] => [
  name,
  { value, from: 'flag', written: `--${name} ${value}` },
];

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** A run on disk whose header has this schedule. */
function recorded(name: string, schedule: unknown): string {
  const path = join(folder, name);
  mkdirSync(path);
  const surroundings = {
    started: '2026-01-01T00:00:00Z',
    versions: {},
    images: {},
    host: { cpus: 2, memoryBytes: 1, kernel: '', engine: '' },
  };
  const plan = parsePlan(vocabulary, { backend: 'redis-single', seed: '1' });
  writeFileSync(join(path, 'plan.json'), storedPlanText(plan, surroundings));
  const header = { format: 'lockpick-history', version: 1, meta: { schedule } };
  writeFileSync(join(path, 'history.jsonl'), JSON.stringify(header));
  return path;
}

async function refusalOf(attempt: () => unknown): Promise<string> {
  try {
    await attempt();
  } catch (error) {
    if (error instanceof HarnessError && error.code === 'usage') return error.message;
    throw error;
  }
  throw new Error('it was not refused');
}

const planned = (path: string, ...more: ReturnType<typeof flag>[]): ReturnType<typeof plansOf> =>
  plansOf({
    patterns: ['redis-single'],
    choices: new Map([flag('schedule', path), ...more]),
    adapters: [],
    seed: '5',
  });

const shown = (found: readonly FindingCode[]): Shown => ({
  grade: found.length > 0 ? 'unsafe' : 'safe',
  codes: found,
});

describe('lockpick replay', () => {
  const none: Choices = new Map();

  it('needs a run, or a finding of one', async () => {
    expect(await refusalOf(() => replayCommand(folder, none))).toContain('neither a run nor a finding');
    const run = recorded('of-nothing', { steps: [], seed: '1' });
    const finding = join(run, 'findings', '7f3c');
    expect(await refusalOf(() => replayCommand(finding, none))).toContain('has no finding 7f3c');
  });

  it('needs a schedule that it can read, and says where it cannot', async () => {
    const unknown = recorded('of-later', { steps: [{ kind: 'soon' }], seed: '1' });
    expect(await refusalOf(() => replayCommand(unknown, none))).toMatch(/line 1: meta\.schedule\.steps\.0/);
    const missing = recorded('of-others', undefined);
    expect(await refusalOf(() => replayCommand(missing, none))).toContain('meta.schedule');
  });

  it('needs to know how often', async () => {
    const run = recorded('of-some', { steps: [], seed: '1' });
    for (const times of ['0', '1001', 'often'])
      expect(await refusalOf(() => replayCommand(run, new Map([flag('times', times)])))).toContain('--times');
  });

  it.each<[string, readonly FindingCode[], readonly FindingCode[][], number]>([
    ['found again, once of twice', ['double-grant'], [[], ['double-grant']], 0],
    ['never found again', ['double-grant'], [[], []], 1],
    ['somebody else to blame', ['double-grant'], [['double-grant', 'token-regression']], 1],
    ['clean again', [], [[]], 0],
    ['no longer clean', [], [['double-grant']], 1],
    ['a lock that cannot be had', ['double-grant'], [['double-grant', 'stuck-lock']], 3],
  ])('exits as 2.4 of the design says: %s', (_, codes, runs, expected) => {
    const first = shown(codes);
    const replayed = runs.map((found) => ({
      shown: shown(found),
      reproduced: reproduces(first, shown(found)),
    }));
    expect(exitCodeOf({ first, all: first }, replayed)).toBe(expected);
  });

  it('looks for one finding, and takes none of the others of its run for news', () => {
    const first: Shown = { grade: 'unsafe', codes: ['double-grant'] };
    const all: Shown = { grade: 'unsafe', codes: ['double-grant', 'lost-update'] };
    expect(exitCodeOf({ first, all }, [{ shown: all, reproduced: true }])).toBe(0);
    const inconclusive: Shown = { grade: 'inconclusive', codes: [] };
    const clean: Shown = { grade: 'safe', codes: [] };
    expect(exitCodeOf({ first: clean, all: clean }, [{ shown: inconclusive, reproduced: false }])).toBe(2);
  });

  it('is what a run with a schedule of its own prints to be made again', () => {
    const steps = [
      { kind: 'at', atMillis: 1, spec: { fault: 'pause', target: { kind: 'holder' }, durationMillis: 1 } },
    ];
    const plan = parsePlan(vocabulary, { backend: 'redis-single', seed: '1', schedule: { steps } });
    expect(commandFor(plan, runDirectory('results/x'))).toBe('npm run -s lockpick -- replay results/x');
    const late = {
      kind: 'at',
      atMillis: 50_000,
      spec: { fault: 'pause', target: { kind: 'holder' }, durationMillis: 1 },
    };
    const fixed = parsePlan(vocabulary, {
      timeLimitMillis: '60s',
      backend: 'redis-single',
      seed: '1',
      fault: 'fixed',
      schedule: { steps: [...steps, late] },
    });
    expect(commandFor(fixed)).toContain(
      'redis-single/set-nx-px/fixed --seed 1 --time-limit 1m --schedule <file>',
    );
    const plain = parsePlan(vocabulary, { backend: 'redis-single', seed: '1' });
    expect(commandFor(plain, runDirectory('results/x'))).toContain('run redis-single/');
  });
});

describe('--schedule', () => {
  const spec = { fault: 'pause', target: { kind: 'holder' }, durationMillis: 100 };

  it('is carried by the plan', () => {
    const steps = [{ kind: 'at', atMillis: 700, spec }];
    const [plan] = planned(file('good.json', { steps }));
    expect(plan).toMatchObject({ fault: 'fixed', seed: '5', schedule: { steps } });
  });

  it.each<[string, unknown, string]>([
    [
      'a kind of fault',
      { steps: [{ kind: 'at', atMillis: 1, spec: { ...spec, fault: 'paus' } }] },
      'steps.0.spec.fault: unknown fault "paus"',
    ],
    ['a time', { steps: [{ kind: 'at', atMillis: 1e6, spec }] }, 'steps.0: its end'],
    ['no JSON', '{', 'is not JSON'],
  ])('names file and place: %s', async (_, content, words) => {
    const path = file('bad.json', content);
    const message = await refusalOf(() => planned(path));
    expect(message).toContain(`--schedule ${path}: `);
    expect(message).toContain(words);
  });

  it('is named where there is no such file', async () => {
    const path = join(folder, 'nowhere.json');
    expect(await refusalOf(() => planned(path))).toBe(`--schedule ${path}: ${path} does not exist`);
  });

  it('is not given beside another fault', async () => {
    const path = file('beside.json', { steps: [] });
    expect(await refusalOf(() => planned(path, flag('fault', 'none')))).toContain('--fault none');
  });
});
