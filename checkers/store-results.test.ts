// Each store graded by itself, what its record settles, and which harm a defence promises to prevent.

import { describe, expect, it } from 'vitest';
import { duplicateEffect } from './duplicate-effect.ts';
import { lostUpdate } from './lost-update.ts';
import { oversold } from './oversold.ts';
import { breaksAnyway, breaksPromise } from './promises.ts';
import { historyOf, step, type Step } from './scenario.fixture.ts';
import { audit, write, type Row } from './store-record.fixture.ts';
import { storeResultsOf } from './store-results.ts';
import { SAFETY_CODES, type SafetyFinding, type StoreResult } from './verdict.ts';
import type { History } from '../harness/history/history.ts';
import { nanos } from '../harness/history/op.ts';

function resultsOf(history: History): readonly StoreResult[] {
  const rules = [lostUpdate(history), oversold(history), duplicateEffect(history)];
  return storeResultsOf(
    history,
    rules.flatMap((result): readonly SafetyFinding[] =>
      result.verdict === 'invalid' ? result.findings : [],
    ),
  );
}

const finding = (code: SafetyFinding['code'], store?: string): SafetyFinding => ({
  id: '',
  code,
  processes: [],
  ops: [],
  at: nanos(0),
  faults: [],
  story: '',
  evidence: {},
  ...(store !== undefined && { store }),
});

const unanswered = (id: number, at: number): Step => write(id, [at], { base: '0' });

describe('the result of a store', () => {
  it('is that of what was found in it, not in others', () => {
    const history = historyOf([
      write(1, [0, 10], { base: '0' }),
      write(2, [20, 30], { base: '0' }),
      write(3, [0, 10], { store: 'version-cas', base: '0' }),
      write(4, [20, 30], { store: 'version-cas', base: '0' }, { type: 'fail', error: 'version-conflict' }),
      audit([
        [1, 0, '1'],
        [2, 0, '1'],
      ]),
      audit(
        [
          [3, 0, '1'],
          [4, 0, '1', false],
        ],
        {},
        'version-cas',
        98,
      ),
    ]);
    expect(resultsOf(history)).toEqual([
      {
        name: 'none',
        verdict: 'invalid',
        findings: { 'lost-update': 1 },
        brokenPromises: [],
        writes: { accepted: 2, refused: 0, unanswered: 0 },
        settled: {},
        settlements: [],
      },
      {
        name: 'version-cas',
        verdict: 'valid',
        findings: {},
        brokenPromises: [],
        writes: { accepted: 1, refused: 1, unanswered: 0 },
        settled: {},
        settlements: [],
      },
    ]);
  });

  it('is unknown where nothing was written, or the record is flawed', () => {
    const nothing = historyOf([write(1, [0, 10], { base: '0' }, { type: 'fail' })]);
    expect(resultsOf(nothing)).toMatchObject([{ verdict: 'unknown', reason: 'no write was accepted' }]);
    const flawed = historyOf([write(1, [0, 10], { base: '0' }), audit([[1, 0, '7']])]);
    expect(resultsOf(flawed)).toMatchObject([
      { verdict: 'unknown', reason: expect.stringContaining('value 7') },
    ]);
    // What the store did with the others nobody knows.
    const unseen = historyOf([write(1, [0, 10], { base: '0' }), unanswered(2, 20)]);
    expect(resultsOf(unseen)).toMatchObject([{ verdict: 'unknown', reason: 'it left no record of k1' }]);
  });

  it('settles unanswered writes by the record, and by its seal those that it does not have', () => {
    const steps = [unanswered(1, 0), unanswered(2, 20), unanswered(3, 40), write(4, [60, 70], { base: '1' })];
    const rows: Row[] = [
      [1, 0, '1'],
      [2, 0, '1', false],
      [4, 1, '1'],
    ];
    const outcomes = (more: readonly Step[]): unknown =>
      resultsOf(historyOf([...steps, ...more]))[0]?.settlements.map(({ op, outcome }) => `${op} ${outcome}`);
    expect(outcomes([audit(rows, { sealed: true })])).toEqual(['1 landed', '2 refused', '3 never']);
    expect(outcomes([audit(rows)])).toEqual(['1 landed', '2 refused', '3 open']);
    // A seal says nothing of what is sent after it.
    const late = step(5, 'c5', 'write', [905], { store: 'none', key: 'k1', value: '1', base: '2' });
    const all = ['1 landed', '2 refused', '3 never', '5 open'];
    expect(outcomes([late, audit(rows, { sealed: true })])).toEqual(all);
    expect(outcomes([])).toEqual(['1 open', '2 open', '3 open']);
    expect(resultsOf(historyOf([...steps, audit(rows, { sealed: true })]))).toMatchObject([
      { writes: { accepted: 1, refused: 0, unanswered: 3 }, settled: { landed: 1, refused: 1, never: 1 } },
    ]);
  });
});

describe('what a defence promises', () => {
  const HARM = ['lost-update', 'oversold', 'duplicate-effect'];

  it.each<[store: string, promised: readonly string[], anyway: boolean]>([
    ['none', [], false],
    ['fence-on-write', ['stale-write-accepted'], false],
    ['fence-on-read-and-write', ['stale-write-accepted', ...HARM], false],
    ['version-cas', HARM, true],
    ['row-lock', HARM, true],
    ['conditional-update', HARM, true],
    ['unique-constraint', HARM, true],
    ['serialized-queue', HARM, true],
    ['of somebody else', [], false],
  ])('%s', (store, promised, anyway) => {
    const broken = SAFETY_CODES.filter((code) => breaksPromise(finding(code, store), {}));
    expect(new Set(broken)).toEqual(new Set(promised));
    expect(SAFETY_CODES.filter((code) => breaksAnyway(finding(code, store), {}))).toEqual(
      anyway ? broken : [],
    );
    expect(breaksPromise(finding('oversold'), {})).toBe(false);
    expect(breaksPromise(finding('oversold', 'ledger'), { stores: { ledger: store } })).toBe(
      promised.includes('oversold'),
    );
  });
});
