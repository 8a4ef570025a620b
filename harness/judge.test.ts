// From a history to a verdict and an exit code. What each rule proves is tested beside the rule; here it is what becomes
// of their answers, of a rule that breaks, and of an expectation.

import { describe, expect, it } from 'vitest';
import { millis, nanos } from './history/op.ts';
import { grantsOf } from './history/grants.ts';
import type { History } from './history/history.ts';
import { exitCodeOf, judge, type Rules } from './judge.ts';
import { FINDINGS_MAX } from '../checkers/finding.ts';
import { mutualExclusion } from '../checkers/mutual-exclusion.ts';
import { granted, historyOf, released, step } from '../checkers/scenario.fixture.ts';
import type { Expectation, Verdict } from '../checkers/verdict.ts';

const SAFE: Expectation = { grade: 'safe', findings: [], oneOf: [], liveness: [], allowed: [] };
const still = (): number => 0;

const busy = { type: 'fail', error: 'busy' };
const cleanSteps = [
  granted(1, 'c1', [0, 10], { token: '1' }),
  granted(2, 'c2', [40, 50], busy),
  released(3, 'c1', [100, 110]),
  granted(4, 'c2', [120, 130], { token: '3' }),
  released(5, 'c2', [200, 210]),
];
const clean = historyOf(cleanSteps);
const weak = historyOf(cleanSteps.filter(({ id }) => id !== 2));
/** c3 is granted the lock inside c1's tenure. */
const doubled = historyOf([
  ...cleanSteps,
  granted(6, 'c3', [60, 70], { token: '2' }),
  released(7, 'c3', [80, 90]),
]);
/** The same, with fewer hand-offs than were asked for. */
const doubledAtOnce = historyOf(
  [
    granted(1, 'c1', [0, 10], { token: '1' }),
    granted(2, 'c2', [40, 50], { token: '2' }),
    released(3, 'c2', [60, 70]),
    released(4, 'c1', [100, 110]),
  ],
  { meta: { minContendedHandoffs: 9 } },
);
/** k1 stays busy after everybody is gone. */
const stuck = historyOf([...cleanSteps, granted(6, 'c3', [9000, 9010], busy)]);

describe('a verdict', () => {
  it('of a clean history is valid and safe', () => {
    expect(judge(clean, SAFE, still)).toMatchObject({
      schemaVersion: 1,
      verdict: 'valid',
      grade: 'safe',
      expected: 'safe',
      asExpected: true,
      findings: [],
      liveness: [],
      surprises: [],
      outcome: 'ok',
      power: { grants: 2, contendedHandoffs: 1, warnings: [] },
    });
  });

  it('that lacks what was expected is inconclusive where the machine did not keep up', () => {
    const expectation: Expectation = { ...SAFE, grade: 'unsafe', findings: ['double-grant'] };
    expect(judge(clean, expectation, still).outcome).toBe('violation');
    const waited = {
      type: 'harness',
      since: nanos(0),
      time: nanos(1e9),
      loopDelayMillis: millis(3),
    } as const;
    const starved = { ...clean, harness: [{ ...waited, cpuWaitMillis: millis(900) }] };
    expect(judge(starved, expectation, still).outcome).toBe('inconclusive');
    expect(judge(starved, SAFE, still).outcome).toBe('ok');
  });

  it('lists every checker and the time it took', () => {
    let now = 0;
    const { checkers } = judge(clean, null, () => (now += 1.5));
    expect(checkers.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['mutual-exclusion', 'tokens', 'foreign-release', 'lost-update', 'liveness']),
    );
    expect(checkers.every((checker) => checker.verdict === 'valid' && checker.millis === 1.5)).toBe(true);
  });

  it('has the findings of all rules in order of time', () => {
    const history = historyOf([
      granted(1, 'c1', [0, 10], { token: '2' }),
      granted(2, 'c2', [40, 50], { token: '1' }),
      granted(3, 'c3', [60, 70], { token: '3', validUntil: 65e6 }),
      released(4, 'c1', [100, 110]),
    ]);
    const { findings } = judge(history, null, still);
    expect(new Set(findings.map(({ code }) => code))).toEqual(
      new Set(['double-grant', 'token-regression', 'expired-grant']),
    );
    expect(findings.map(({ at }) => at)).toEqual(findings.map(({ at }) => at).toSorted((a, b) => a - b));
  });

  it('survives being written as JSON', () => {
    const verdict = judge(doubled, SAFE, still);
    expect(JSON.parse(JSON.stringify(verdict))).toEqual(verdict);
  });
});

const broken: Rules = {
  safety: {
    'mutual-exclusion': mutualExclusion,
    broken: () => {
      throw new TypeError('no such thing');
    },
  },
  liveness: {},
};

describe('a rule that found too much', () => {
  it('says that it does not list all of it', () => {
    const [first] = judge(doubled, null, still).findings;
    if (first === undefined) throw new Error('nothing was found');
    const rules: Rules = {
      safety: { much: () => ({ verdict: 'invalid', findings: [first], omitted: 7 }) },
      liveness: {},
    };
    const { checkers, surprises } = judge(doubled, null, still, rules);
    expect(checkers).toEqual([
      { name: 'much', verdict: 'invalid', millis: 0, reason: '7 more findings are not listed' },
    ]);
    expect(surprises).toEqual(['double-grant occurred (1 ×)']);
  });

  it('is cut, if it lists too much', () => {
    const [first] = judge(doubled, null, still).findings;
    if (first === undefined) throw new Error('nothing was found');
    const many = Array.from({ length: FINDINGS_MAX + 2 }, () => first);
    const rules: Rules = {
      safety: { much: () => ({ verdict: 'invalid', findings: [first, ...many] }) },
      liveness: {},
    };
    const { checkers, findings } = judge(doubled, null, still, rules);
    expect(findings).toHaveLength(FINDINGS_MAX);
    expect(checkers[0]?.reason).toBe('3 more findings are not listed');
  });
});

describe('a rule that breaks', () => {
  it('is unknown with the reason, and nothing is valid by its silence', () => {
    const verdict = judge(clean, SAFE, still, broken);
    expect(verdict).toMatchObject({
      verdict: 'unknown',
      grade: 'inconclusive',
      asExpected: false,
      outcome: 'inconclusive',
      surprises: ['broken cannot tell: it failed: no such thing'],
    });
    expect(verdict.checkers[1]).toEqual({
      name: 'broken',
      verdict: 'unknown',
      millis: 0,
      reason: 'it failed: no such thing',
    });
  });

  it('hides no violation that another rule found', () => {
    expect(judge(doubled, null, still, broken)).toMatchObject({ verdict: 'invalid', outcome: 'violation' });
  });

  it('of liveness is told, and leaves the grade', () => {
    const rules: Rules = {
      safety: {},
      liveness: { slow: () => ({ verdict: 'unknown', reason: 'out of budget' }) },
    };
    expect(judge(clean, SAFE, still, rules)).toMatchObject({
      verdict: 'valid',
      grade: 'safe',
      outcome: 'inconclusive',
      surprises: ['slow cannot tell: out of budget'],
    });
  });
});

describe('the exit code', () => {
  const withFencing: Expectation = { ...SAFE, grade: 'safe-with-fencing', findings: ['double-grant'] };

  it.each<
    [what: string, history: History, expectation: Expectation | null, code: number, asExpected: boolean]
  >([
    ['as expected', clean, SAFE, 0, true],
    ['clean, with no expectation', clean, null, 0, true],
    ['a violation that was not expected', doubled, SAFE, 1, false],
    ['a violation, with no expectation', doubled, null, 1, false],
    ['the violation that was expected', doubled, withFencing, 0, true],
    ['the violation that was expected, where little was tried', doubledAtOnce, withFencing, 0, true],
    ['an expected violation that is missing', clean, withFencing, 1, false],
    ['an expected violation that is missing where little was tried', weak, withFencing, 1, false],
    ['a stuck lock', stuck, SAFE, 3, false],
    ['a stuck lock, with no expectation', stuck, null, 3, false],
    ['a stuck lock that was expected', stuck, { ...SAFE, liveness: ['stuck-lock'] }, 0, true],
    ['a stuck lock that is missing', clean, { ...SAFE, liveness: ['stuck-lock'] }, 1, false],
    ['too little load', weak, SAFE, 2, false],
    ['too little load, with no expectation', weak, null, 2, true],
    ['too little load, as expected', weak, { ...SAFE, grade: 'inconclusive' }, 0, true],
  ])('of %s', (_, history, expectation, code, asExpected) => {
    const verdict = judge(history, expectation, still);
    expect([exitCodeOf(verdict), verdict.asExpected, verdict.surprises.length > 0]).toEqual([
      code,
      asExpected,
      !asExpected,
    ]);
  });

  it.each<[Verdict['outcome'], number]>([
    ['violation', 1],
    ['threshold', 3],
    ['inconclusive', 2],
    ['ok', 0],
  ])('of %s is %i', (outcome, code) => {
    expect(exitCodeOf({ ...judge(clean, null, still), outcome })).toBe(code);
  });
});

describe('an empty history', () => {
  it('is inconclusive', () => {
    const empty = historyOf([]);
    expect(judge(empty, null, still)).toMatchObject({ verdict: 'unknown', grade: 'inconclusive' });
    expect(grantsOf(empty)).toEqual([]);
  });
});

describe('operations on the store alone', () => {
  it('are no load', () => {
    const read = step(1, 'c1', 'read', [0, 10], { store: 'none', key: 'k1' }, { version: '0', value: '' });
    expect(judge(historyOf([read]), SAFE, still).outcome).toBe('inconclusive');
  });
});
