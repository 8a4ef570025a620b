// The grade: the table of 2.4 of the design, row by row.

import { describe, expect, it } from 'vitest';
import { gradeOf } from './grade.ts';
import { grantColumnsOf, type Grants } from '../harness/history/grants.ts';
import { nanos, type HistoryMeta } from '../harness/history/op.ts';
import { granted, historyOf } from './scenario.fixture.ts';
import { SAFETY_CODES, type Grade, type Power, type SafetyCode, type SafetyFinding } from './verdict.ts';

function finding(code: SafetyCode, store?: string): SafetyFinding {
  return {
    id: code,
    code,
    processes: [],
    ops: [],
    at: nanos(0),
    faults: [],
    story: '',
    evidence: {},
    ...(store !== undefined && { store }),
  };
}

const STRONG: Power = {
  grants: 9,
  contendedHandoffs: 9,
  expiries: 0,
  faults: { planned: 0, acted: 0, hitHold: 0 },
  rateBound: null,
  warnings: [{ code: 'fault-had-no-effect', message: '', decisive: false }],
};
const WEAK: Power = { ...STRONG, warnings: [{ code: 'too-little-load', message: '', decisive: true }] };

interface Basis {
  readonly findings?: readonly SafetyFinding[];
  readonly meta?: HistoryMeta;
  readonly power?: Power;
  readonly unknown?: boolean;
  /** Of the only grant. */
  readonly token?: string;
}

function grade({ findings = [], meta = {}, power = STRONG, unknown = false, token }: Basis): Grade {
  const history = historyOf([granted(1, 'c1', [0, 10], token === undefined ? {} : { token })]);
  return gradeOf({ meta, grants: grantColumnsOf(history), findings, power, unknown });
}

const BEYOND_FENCING: readonly SafetyCode[] = [
  'token-regression',
  'stale-write-accepted',
  'foreign-release',
  'not-linearizable',
];

/** One grant with a token, and one that has what is given. */
function grantsWith(second: Readonly<Record<string, unknown>>): Grants {
  return grantColumnsOf(
    historyOf([granted(1, 'c1', [0, 10], { token: '1' }), granted(2, 'c2', [20, 30], second)]),
  );
}

describe('a history of unknown recipe', () => {
  it('has tokens to fence with only if every grant carries one', () => {
    const basis = { meta: {}, findings: [finding('double-grant')], power: STRONG, unknown: false };
    expect(gradeOf({ ...basis, grants: grantsWith({ token: '2' }) })).toBe('safe-with-fencing');
    expect(gradeOf({ ...basis, grants: grantsWith({}) })).toBe('unsafe');
  });
});

describe('a lock that gives tokens', () => {
  it.each(
    SAFETY_CODES.map(
      (code) => [code, BEYOND_FENCING.includes(code) ? 'unsafe' : 'safe-with-fencing'] as const,
    ),
  )('with %s is %s', (code, expected) => {
    expect(grade({ findings: [finding(code)], meta: { tokens: true } })).toBe(expected);
    expect(grade({ findings: [finding(code)], token: '7' })).toBe(expected);
  });

  it.each<[store: string, stores: Record<string, string>, expected: Grade]>([
    ['none', {}, 'safe-with-fencing'],
    ['unfenced', {}, 'safe-with-fencing'],
    ['fence-on-write', {}, 'safe-with-fencing'],
    ['fence-on-read-and-write', {}, 'unsafe'],
    ['fenced', {}, 'unsafe'],
    ['ledger', { ledger: 'fence-on-read-and-write' }, 'unsafe'],
    ['fenced', { fenced: 'none' }, 'safe-with-fencing'],
  ])('with a lost update in store %s, which is %o, is %s', (store, stores, expected) => {
    expect(grade({ findings: [finding('lost-update', store)], meta: { tokens: true, stores } })).toBe(
      expected,
    );
  });

  it('is unsafe if one finding of many makes it so', () => {
    const findings = [finding('belief-overlap'), finding('token-regression'), finding('double-grant')];
    expect(grade({ findings, meta: { tokens: true } })).toBe('unsafe');
  });

  it('is not praised for its tokens if a checker could not tell', () => {
    expect(grade({ findings: [finding('belief-overlap')], token: '7', unknown: true })).toBe('inconclusive');
    expect(grade({ findings: [finding('token-regression')], token: '7', unknown: true })).toBe('unsafe');
  });

  it('is what was found, however little was tried', () => {
    expect(grade({ findings: [finding('belief-overlap')], token: '7', power: WEAK })).toBe(
      'safe-with-fencing',
    );
  });
});

describe('a lock without tokens', () => {
  it.each(SAFETY_CODES)('with %s is unsafe', (code) => {
    expect(grade({ findings: [finding(code)] })).toBe('unsafe');
    expect(grade({ findings: [finding(code)], meta: { tokens: false }, token: '7' })).toBe('unsafe');
    expect(grade({ findings: [finding(code)], unknown: true, power: WEAK })).toBe('unsafe');
  });
});

describe('a lock without findings', () => {
  it('is safe, if enough was tried and every checker could tell', () => {
    expect(grade({})).toBe('safe');
    expect(grade({ power: WEAK })).toBe('inconclusive');
    expect(grade({ unknown: true })).toBe('inconclusive');
  });
});
