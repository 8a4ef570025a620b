// Comparisons over made-up runs: what counts as done, how shards cut and merge, and that merged shards give the bytes
// of an unsharded run.

import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exitCodeOfUnits, writeTogether } from '../commands/batch.ts';
import { mergeCommand } from '../commands/merge.ts';
import { HarnessError } from '../contract/errors.ts';
import { appendTrend, readTrends } from '../stored/results.ts';
import type { Choice } from '../settings/settings.ts';
import { identityOf, readComparison, unitsOf, writeComparison, type Comparison } from './comparison.ts';
import { planOf, storeRun, verdictOf } from './made-up-runs.fixture.ts';
import { parseShard, shardOf, WHOLE } from './shard.ts';
import { summarise } from './summary.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lockpick-comparison-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const at = (name: string): string => join(root, name);
const plans = ['1', '2', '3'].flatMap((seed) => [
  planOf('redis-single/set-nx-px/none', seed),
  planOf('redis-single/fenced-incr/pause-holder', seed),
]);
const comparison: Comparison = { profile: 'standard', seed: '1', plans };
const verdicts = [
  verdictOf(),
  verdictOf({ grade: 'safe-with-fencing', acted: 5, broken: ['belief-overlap', 'belief-overlap'] }),
  verdictOf({
    outcome: 'violation',
    grade: 'unsafe',
    broken: ['double-grant'],
    surprises: ['double-grant!'],
  }),
  verdictOf({ grade: 'safe-with-fencing', acted: 6, broken: ['stale-write-landed'] }),
  verdictOf({ outcome: 'inconclusive', grade: 'inconclusive', surprises: ['too little'] }),
  verdictOf({ grade: 'safe-with-fencing' }),
];
const everything = new Set(['html', 'junit', 'markdown', 'json'] as const);

function storeAll(out: string, positions: readonly number[], prefix = '2026-run'): void {
  writeComparison(out, comparison);
  for (const position of positions) {
    const plan = plans[position];
    const verdict = verdicts[position];
    if (plan === undefined || verdict === undefined) continue;
    storeRun(out, `${prefix}-${position}`, plan, verdict);
    appendTrend(out, { run: `${prefix}-${position}`, grade: verdict.grade });
  }
}

/** As `compare` ends on one machine. */
function summariseWhole(out: string): void {
  storeAll(out, [0, 1, 2, 3, 4, 5]);
  const units = unitsOf(plans, [out]);
  writeTogether(summarise(comparison, units), units, { out, reports: everything, say: () => undefined });
}

const choices = (out: string): ReadonlyMap<string, Choice> =>
  new Map([
    ['out', { value: out, from: 'flag', written: '--out' }],
    ['quiet', { value: true, from: 'flag', written: '--quiet' }],
  ]);

describe('shards', () => {
  it('cut any list into disjoint parts that are all of it, of sizes that differ by one at most', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.integer({ min: 1, max: 20 }), (units, count) => {
        const items = units.map((value, position) => ({ value, position }));
        const shards = Array.from({ length: count }, (_, index) =>
          shardOf(items, { index: index + 1, count }),
        );
        expect(shards.flat().toSorted((a, b) => a.position - b.position)).toEqual(items);
        const sizes = shards.map(({ length }) => length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it.each(['0/3', '4/3', '1', '1/0', 'a/b', '1/3/5', '-1/3'])('%s is refused as it was written', (text) => {
    expect(() => parseShard(text, `--shard ${text}`)).toThrow(`--shard ${text}`);
  });

  it('reads i/n', () => {
    expect(parseShard('2/12', '')).toEqual({ index: 2, count: 12 });
    expect(shardOf([1, 2, 3], WHOLE)).toEqual([1, 2, 3]);
  });
});

describe('merge', () => {
  it.each([2, 3, 5])('of %d shards gives the summary of an unsharded run to the byte', (count) => {
    summariseWhole(at('whole'));
    const shards = Array.from({ length: count }, (_, index) => {
      storeAll(at(`shard-${index}`), shardOf([0, 1, 2, 3, 4, 5], { index: index + 1, count }));
      return at(`shard-${index}`);
    });
    // Whatever the order in which they are named.
    expect(mergeCommand(shards.toReversed(), choices(at('merged')))).toBe(1);
    for (const file of ['summary.json', 'summary.md', 'junit.xml', 'comparison.json'])
      expect(readFileSync(join(at('merged'), file), 'utf8'), file).toBe(
        readFileSync(join(at('whole'), file), 'utf8'),
      );
    expect(readFileSync(at('merged/failing-seeds.txt'), 'utf8')).toMatch(
      /^# .*\nredis-single\/set-nx-px\/none --seed 2( --\S+ \S+)*\n$/,
    );
    expect(existsSync(join(at('merged'), '2026-run-3', 'verdict.json'))).toBe(true);
    // Once more changes nothing.
    mergeCommand(shards, choices(at('merged')));
    expect(readTrends(at('merged')).map(([run]) => run)).toEqual(
      plans.map((_, index) => `2026-run-${index}`),
    );
  });

  it('gives it also if the shards ran at another time', () => {
    summariseWhole(at('whole'));
    storeAll(at('a'), [0, 2, 4], '2027-run');
    storeAll(at('b'), [1, 3, 5], '2028-run');
    mergeCommand([at('a'), at('b')], choices(at('merged')));
    expect(readFileSync(at('merged/summary.json'), 'utf8')).toBe(
      readFileSync(at('whole/summary.json'), 'utf8'),
    );
  });

  it('shows what is missing and is inconclusive about it, but never masks a violation', () => {
    storeAll(at('a'), [0, 1]);
    expect(mergeCommand([at('a')], choices(at('merged')))).toBe(2);
    const text = readFileSync(join(at('merged'), 'summary.md'), 'utf8');
    expect(text).toContain('4 missing');
    storeAll(at('b'), [2]);
    expect(mergeCommand([at('a'), at('b')], choices(at('merged')))).toBe(1);
  });

  it('refuses shards of another comparison, and directories without one', () => {
    storeAll(at('a'), [0]);
    writeComparison(at('a'), comparison);
    storeAll(at('b'), [1]);
    writeComparison(at('b'), { ...comparison, plans: plans.slice(1) });
    expect(() => mergeCommand([at('a'), at('b')], choices(at('m')))).toThrow('another comparison');
    expect(() => mergeCommand([at('nowhere')], choices(at('m')))).toThrow('no comparison.json');
    mkdirSync(at('damaged'));
    writeFileSync(join(at('damaged'), 'comparison.json'), '{"schemaVersion":1}');
    expect(() => mergeCommand([at('damaged')], choices(at('m')))).toThrow(
      /damaged.comparison\.json is no comparison of this version: ✖ [^]*→ at profile/,
    );
  });
});

describe('what is done', () => {
  it('is told by the plan and by verdict.json, which a run that a signal ended does not make done', () => {
    const [first, second, third] = plans;
    if (first === undefined || second === undefined || third === undefined) throw new Error('too few plans');
    storeRun(at('out'), 'b', first, verdictOf());
    storeRun(at('out'), 'a', first, verdictOf({ outcome: 'violation' }));
    storeRun(at('out'), 'c', second, { ...verdictOf(), interrupted: true });
    storeRun(at('out'), 'd', third, { schemaVersion: 99 });
    cpSync(join(at('out'), 'a'), join(at('out'), 'torn'), { recursive: true });
    rmSync(join(at('out'), 'torn', 'verdict.json'));
    const units = unitsOf(plans, [at('out')]);
    // The later one counts, and the plan comes back as it was written.
    expect(units[0]?.run).toMatchObject({ directory: { name: 'b' }, verdict: { outcome: 'ok' } });
    expect(units.slice(1).map(({ run }) => run)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(exitCodeOfUnits(units)).toBe(2);
  });

  it('has one identity for the same plans, and another for others', () => {
    writeComparison(at('out'), comparison);
    const read = readComparison(at('out'));
    expect(read).toEqual(comparison);
    expect(read === undefined ? '' : identityOf(read)).toBe(identityOf(comparison));
    expect(identityOf({ ...comparison, plans: plans.toReversed() })).not.toBe(identityOf(comparison));
    expect(readComparison(at('nowhere'))).toBeUndefined();
  });

  it('refuses a comparison of another kind with its file', () => {
    writeComparison(at('out'), { ...comparison, plans: [] });
    expect(() => readComparison(at('out'))).toThrow(HarnessError);
    expect(() => readComparison(at('out'))).toThrow('comparison.json');
  });
});

describe('the summary', () => {
  it('gives of each cell its worst outcome, its counts and its rates', () => {
    storeAll(at('out'), [0, 1, 2, 3, 4, 5]);
    const { cells, totals } = summarise(comparison, unitsOf(plans, [at('out')]));
    expect(totals).toEqual({ violation: 1, missing: 0, threshold: 0, inconclusive: 1, ok: 4 });
    expect(cells.map(({ cell, outcome }) => [cell, outcome])).toEqual([
      ['redis-single/set-nx-px/none', 'violation'],
      ['redis-single/fenced-incr/pause-holder', 'ok'],
    ]);
    const [none, paused] = cells;
    expect(none?.asExpected).toMatchObject({ hits: 1, trials: 3 });
    expect(none?.grades).toEqual({ safe: 1, unsafe: 1, inconclusive: 1 });
    // Two faults of 5, one of 6, none of 4.
    expect(paused?.breakingFaults).toMatchObject({ hits: 3, trials: 15, low: 0.043312, high: 0.480891 });
    expect(paused?.breakingFaultsByCode).toEqual({ 'belief-overlap': 2, 'stale-write-landed': 1 });
    expect(paused?.breakingRunsByCode).toEqual({ 'belief-overlap': 1, 'stale-write-landed': 1 });
    expect(paused?.findings).toEqual({ 'belief-overlap': 2, 'stale-write-landed': 1 });
    expect(none?.units[1]?.replay).toContain('run redis-single/set-nx-px/none --seed 2');
  });
});
