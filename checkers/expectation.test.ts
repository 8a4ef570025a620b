// What differs from the expectation, and how bad that is.

import { describe, expect, it } from 'vitest';
import { surprisesOf, type Found } from './expectation.ts';
import type { Expectation, Finding, FindingCode, StoreResult } from './verdict.ts';
import { nanos } from '../harness/history/op.ts';

function finding(code: FindingCode): Finding {
  return { id: code, code, processes: [], ops: [], at: nanos(0), faults: [], story: '', evidence: {} };
}

const expected: Expectation = {
  grade: 'unsafe',
  findings: ['belief-overlap'],
  oneOf: ['stale-write-landed', 'lost-update'],
  liveness: ['stuck-lock'],
  allowed: ['expired-grant'],
};
const found: Found = {
  grade: 'unsafe',
  findings: [finding('belief-overlap'), finding('lost-update'), finding('expired-grant')],
  liveness: [finding('stuck-lock')],
  stores: [],
  broken: [],
  queueJumps: 0,
  doubts: [],
  starved: undefined,
};

function surprises(changed: Partial<Found>, expectation: Expectation | null = expected): string[] {
  return surprisesOf({ ...found, ...changed }, expectation).map(
    ({ outcome, words }) => `${outcome}: ${words}`,
  );
}

describe('a surprise', () => {
  it('is nothing that was expected or allowed', () => {
    expect(surprises({})).toEqual([]);
    expect(surprises({ findings: [finding('belief-overlap'), finding('stale-write-landed')] })).toEqual([]);
  });

  it('is no queue that was to be none', () => {
    const jumped = { ...expected, queueJumps: true } as const;
    expect(surprises({ queueJumps: 3 }, jumped)).toEqual([]);
    expect(surprises({}, jumped)).toEqual(['violation: a queue jump was expected and did not occur']);
  });

  it.each<[what: string, changed: Partial<Found>, words: string]>([
    [
      'an unexpected finding',
      { findings: [...found.findings, finding('double-grant'), finding('double-grant')] },
      'violation: double-grant occurred (2 ×) and was not expected',
    ],
    [
      'an expected finding that did not occur',
      { findings: [finding('lost-update')] },
      'violation: belief-overlap was expected and did not occur',
    ],
    [
      'none of several of which one was expected',
      { findings: [finding('belief-overlap')] },
      'violation: one of stale-write-landed, lost-update was expected and none occurred',
    ],
    [
      'another grade',
      { grade: 'safe-with-fencing' },
      'violation: the grade is safe-with-fencing; unsafe was expected',
    ],
    [
      'a lock that was to be stuck and is not',
      { liveness: [] },
      'violation: stuck-lock was expected and did not occur',
    ],
    [
      'unexpected trouble with liveness',
      { liveness: [...found.liveness, finding('not-reacquired')] },
      'threshold: not-reacquired occurred (1 ×) and was not expected',
    ],
    [
      'harm in a store whose defence needs no lock, though the code is expected elsewhere',
      { broken: [{ ...finding('lost-update'), store: 'row-lock' }] },
      'violation: lost-update occurred in store row-lock (1 ×), whose defence keeps that out whatever the lock does',
    ],
    ['a queue that is none', { queueJumps: 2 }, 'threshold: the queue was jumped 2 ×'],
    ['a doubt', { doubts: ['tokens cannot tell'] }, 'inconclusive: tokens cannot tell'],
  ])('is %s', (_, changed, words) => {
    expect(surprises(changed)).toEqual([words]);
  });

  it('is a store in which theory says that harm must be found, and is none', () => {
    const lossy: Expectation = {
      ...expected,
      stores: { none: ['lost-update'], 'fence-on-write': ['lost-update'] },
    };
    const none: StoreResult = {
      name: 'none',
      verdict: 'invalid',
      findings: { 'lost-update': 1 },
      brokenPromises: [],
      writes: { accepted: 2, refused: 0, unanswered: 0 },
      settled: {},
      settlements: [],
    };
    const missing = 'violation: lost-update was expected in store fence-on-write and did not occur';
    expect(surprises({ stores: [none, { ...none, name: 'fence-on-write', findings: {} }] }, lossy)).toEqual([
      missing,
    ]);
    expect(surprises({ stores: [none] }, lossy)).toEqual([missing]);
    expect(surprises({ stores: [none, { ...none, name: 'fence-on-write' }] }, lossy)).toEqual([]);
  });

  it('is worst first', () => {
    const outcomes = surprisesOf(
      { ...found, grade: 'inconclusive', findings: [], liveness: [finding('starved')], doubts: ['x'] },
      expected,
    ).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['violation', 'violation', 'violation', 'threshold', 'inconclusive']);
  });

  it('is no other grade where nothing could be said: the doubts say it', () => {
    const safe: Expectation = { grade: 'safe', findings: [], oneOf: [], liveness: [], allowed: [] };
    const nothing: Found = {
      ...found,
      grade: 'inconclusive',
      findings: [],
      liveness: [],
      doubts: ['no load'],
    };
    expect(surprisesOf(nothing, safe)).toEqual([{ outcome: 'inconclusive', words: 'no load' }]);
    expect(surprisesOf(nothing, { ...safe, grade: 'inconclusive' })).toEqual([]);
  });

  describe('with other settings than the cell', () => {
    const other: Expectation = { ...expected, queueJumps: true, changed: ['--ttl 3s', '--clients 2'] };
    const jumped = { ...found, queueJumps: 1 };
    const because = "that it must is shown of the cell's own settings, not with --ttl 3s --clients 2";

    it.each<[what: string, changed: Partial<Found>, words: string]>([
      ['a finding', { findings: [finding('lost-update')] }, 'belief-overlap was expected and did not occur'],
      ['a stuck lock', { liveness: [] }, 'stuck-lock was expected and did not occur'],
      ['a queue jump', { queueJumps: 0 }, 'a queue jump was expected and did not occur'],
      [
        'one of several',
        { findings: [finding('belief-overlap')] },
        'one of stale-write-landed, lost-update was expected and none occurred',
      ],
      ['a grade as bad', { grade: 'safe' }, 'the grade is safe; unsafe was expected'],
    ])('is inconclusive where it lacks %s', (_, changed, words) => {
      expect(surprises({ ...jumped, ...changed }, other)).toEqual([`inconclusive: ${words}; ${because}`]);
    });

    it('is inconclusive where a store lacks harm', () => {
      expect(surprises(jumped, { ...other, stores: { none: ['oversold'] } })).toEqual([
        `inconclusive: oversold was expected in store none and did not occur; ${because}`,
      ]);
    });

    it('is as expected where everything occurs', () => {
      expect(surprises(jumped, other)).toEqual([]);
    });

    it.each<[what: string, changed: Partial<Found>, words: string]>([
      [
        'a finding that may not occur',
        { findings: [...found.findings, finding('double-grant')] },
        'violation: double-grant occurred (1 ×) and was not expected',
      ],
      [
        'harm that a defence keeps out',
        { broken: [{ ...finding('lost-update'), store: 'row-lock' }] },
        'violation: lost-update occurred in store row-lock (1 ×), whose defence keeps that out whatever the lock does',
      ],
      [
        'liveness that may not suffer',
        { liveness: [...found.liveness, finding('starved')] },
        'threshold: starved occurred (1 ×) and was not expected',
      ],
    ])('is as bad as ever where there is %s', (_, changed, words) => {
      expect(surprises({ ...jumped, ...changed }, other)).toEqual([words]);
    });

    it('is a violation where the grade is worse', () => {
      expect(surprises(jumped, { ...other, grade: 'safe-with-fencing' })).toEqual([
        'violation: the grade is unsafe; safe-with-fencing was expected',
      ]);
    });
  });

  it('is inconclusive where something lacks and the machine did not keep up, and no less where too much occurred', () => {
    const starved = 'for 91 % of the time some process here waited for a processor';
    expect(surprises({ starved })).toEqual([]);
    expect(surprises({ starved, findings: [finding('lost-update')], grade: 'safe' })).toEqual([
      `inconclusive: belief-overlap was expected and did not occur; ${starved}`,
      `inconclusive: the grade is safe; unsafe was expected; ${starved}`,
    ]);
    expect(surprises({ starved, findings: [...found.findings, finding('double-grant')] })).toEqual([
      'violation: double-grant occurred (1 ×) and was not expected',
    ]);
  });

  it('is whatever was found, where there is no expectation', () => {
    expect(surprises({ grade: 'safe', findings: [], liveness: [] }, null)).toEqual([]);
    expect(surprises({ findings: [finding('lost-update')], doubts: ['x'] }, null)).toEqual([
      'violation: lost-update occurred (1 ×)',
      'threshold: stuck-lock occurred (1 ×)',
      'inconclusive: x',
    ]);
  });
});
