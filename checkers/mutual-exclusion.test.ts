// `double-grant` and `belief-overlap`: what proves each, and what looks like one and is none.

import { describe, expect, it } from 'vitest';
import { grantColumnsOf } from '../harness/history/grants.ts';
import type { History } from '../harness/history/history.ts';
import { mutualExclusion } from './mutual-exclusion.ts';
import { granted, historyOf, released, step } from './scenario.fixture.ts';
import type { Finding } from './verdict.ts';

function findings(history: History): readonly Finding[] {
  const result = mutualExclusion(history, grantColumnsOf(history));
  return result.verdict === 'invalid' ? result.findings : [];
}

function found(history: History): string[] {
  return findings(history).map(({ code, ops }) => `${code} ${ops.join(' ')}`);
}

/** c1 is sure of its lease until 990 ms; c2 asks inside it and is answered at `completed`. */
function askedLate(completed: number): History {
  return historyOf([
    granted(1, 'c1', [0, 10]),
    granted(2, 'c2', [980, completed]),
    released(3, 'c2', [1500, 1510]),
  ]);
}

/** c2 asks at `invoked`, inside c1's tenure, for a lease that is over when it is answered there. */
function slow(invoked: number, header = {}): History {
  const steps = [
    granted(1, 'c1', [0, 10]),
    step(2, 'c2', 'acquire', [invoked, 600], { lock: 'k1', ttlMillis: 100 }),
    released(3, 'c1', [700, 710]),
    released(4, 'c2', [700, 710], { released: false }),
  ];
  return historyOf(steps, header);
}

/** c2 is answered at 200 ms, and c1 sends its release at `end`. */
function touching(end: number): History {
  return historyOf([
    granted(1, 'c1', [0, 10]),
    granted(2, 'c2', [100, 200]),
    released(3, 'c1', [end, 300]),
    released(4, 'c2', [400, 410]),
  ]);
}

/** A server was restarted empty; in milliseconds. */
const restarted = (id: string, target: string, begin: number, end: number) => [
  { type: 'fault', phase: 'begin', id, time: begin, fault: 'restart-empty', targets: [target] } as const,
  { type: 'fault', phase: 'end', id, time: end, fault: 'restart-empty', targets: [target] } as const,
];

describe('double-grant', () => {
  it('is a grant inside the tenure of another', () => {
    const history = historyOf([
      granted(1, 'c1', [0, 10]),
      granted(2, 'c2', [100, 110]),
      released(3, 'c1', [500, 510]),
    ]);
    const [finding, ...others] = findings(history);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({
      code: 'double-grant',
      lock: 'k1',
      processes: ['c1', 'c2'],
      ops: [1, 2],
      at: 110e6,
      faults: [],
      story:
        'c1 was granted k1 at 0.010 s (op 1) for 1 s; it was in force until 0.500 s. ' +
        'c2 was granted k1 at 0.110 s (op 2) for 1 s, asked for at 0.100 s: the lock was given twice.',
    });
  });

  it('names the faults in force, on whatever node they were, and not more than a story can bear', () => {
    const storyWith = (...faults: ReturnType<typeof restarted>[]) =>
      findings(
        historyOf(
          [granted(1, 'c1', [10, 20]), granted(2, 'c2', [100, 110]), released(3, 'c1', [500, 510])],
          {},
          faults.flat(),
        ),
      )[0]?.story ?? '';
    expect(
      storyWith(restarted('f1', 'r3', 50, 60), restarted('f2', 'r2', 0, 5), restarted('f3', 'r2', 120, 130)),
    ).toBe(
      'c1 was granted k1 at 0.020 s (op 1) for 1 s; it was in force until 0.500 s. ' +
        'About that time r3 was to be killed and emptied ' +
        '(fault f1: ordered at 0.050 s, not proved to act, over by 0.060 s). ' +
        'c2 was granted k1 at 0.110 s (op 2) for 1 s, asked for at 0.100 s: the lock was given twice.',
    );
    const many = [30, 40, 50, 60, 70].map((at) => restarted(`f${at}`, 'r1', at, at + 5));
    expect(storyWith(...many)).toMatch(/\(fault f50: [^)]*\) and there were 2 more faults\. c2 was granted/);
    expect(storyWith(...many.slice(1))).toMatch(/\(fault f60: [^)]*\) and there was 1 more fault\. c2/);
  });

  it('is proved by two certain tenures that meet, though the later one was asked for before', () => {
    const history = historyOf([
      granted(1, 'c1', [0, 600]),
      granted(2, 'c2', [100, 110]),
      released(3, 'c2', [800, 810]),
    ]);
    expect(found(history)).toEqual(['double-grant 2 1']);
  });

  it('names the operation that proves the tenure, if it is not the acquire', () => {
    const history = historyOf([
      granted(1, 'c1', [0, 10]),
      granted(2, 'c2', [1200, 1210]),
      released(3, 'c1', [1500, 1510]),
    ]);
    expect(found(history)).toEqual(['double-grant 1 3 2']);
    expect(findings(history)[0]?.story).toContain('as op 3 proves');
  });

  it('is found for each tenure that it lies in', () => {
    const history = historyOf([
      granted(1, 'c1', [0, 10]),
      granted(2, 'c2', [100, 110]),
      granted(3, 'c3', [200, 210]),
      released(4, 'c2', [300, 310]),
    ]);
    expect(found(history)).toEqual(['double-grant 1 2', 'double-grant 1 3', 'double-grant 2 3']);
  });

  it('names the faults in force', () => {
    const fault = { type: 'fault', id: 'f7', fault: 'kill', targets: ['r1'] };
    const history = historyOf([granted(1, 'c1', [0, 10]), granted(2, 'c2', [100, 110])], {}, [
      { ...fault, phase: 'begin', time: 50 },
      { ...fault, phase: 'end', time: 60 },
      { ...fault, id: 'f8', phase: 'begin', time: 200 },
    ]);
    expect(findings(history)[0]?.faults).toEqual(['f7']);
  });

  it('is none where the lease may have run out', () => {
    expect(found(askedLate(989))).toEqual(['double-grant 1 2']);
    expect(found(askedLate(990))).toEqual(['belief-overlap 1 2']);
  });

  it('is found though the lease of the later grant is over when it is answered', () => {
    expect(found(slow(11))).toEqual(['double-grant 1 2']);
    // At one time with the earlier grant, or before: then it may have come first, and its lease may have run out.
    expect(found(slow(10))).toEqual(['belief-overlap 1 2']);
    expect(found(slow(9))).toEqual(['belief-overlap 1 2']);
    expect(found(slow(12, { clockErrorNanos: 1e6 }))).toEqual(['belief-overlap 1 2']);
    expect(found(slow(13, { clockErrorNanos: 1e6 }))).toEqual(['double-grant 1 2']);
  });

  it('is found against the longer of two tenures of one process', () => {
    const history = historyOf([
      granted(1, 'c1', [0, 10]),
      step(2, 'c1', 'acquire', [100, 110], { lock: 'k1', ttlMillis: 50 }),
      granted(3, 'c2', [300, 310]),
      released(4, 'c2', [400, 410]),
    ]);
    expect(found(history).toSorted()).toEqual(['belief-overlap 2 3', 'double-grant 1 3']);
  });

  it('is none if the tenure ends as the later grant is answered', () => {
    expect(found(touching(200))).toEqual([]);
    expect(found(touching(201))).toEqual(['double-grant 1 2']);
  });

  it('is none in the same process', () => {
    expect(found(historyOf([granted(1, 'c1', [0, 10]), granted(2, 'c1', [100, 110])]))).toEqual([]);
  });

  it('is none on another lock', () => {
    const other = step(2, 'c2', 'acquire', [100, 110], { lock: 'k2', ttlMillis: 1000 });
    expect(found(historyOf([granted(1, 'c1', [0, 10]), other]))).toEqual([]);
  });
});

describe('belief-overlap', () => {
  const paused = [
    granted(118, 'c3', [4195, 4201]),
    granted(131, 'c7', [5200, 5204]),
    released(140, 'c3', [5812, 5820], { released: false }),
    released(141, 'c7', [6000, 6001]),
  ];
  const pause = { type: 'fault', id: 'f7', fault: 'pause', targets: ['c3'] };
  const faults = [
    { ...pause, phase: 'begin', time: 4290 },
    { ...pause, phase: 'acted', time: 4300 },
    { ...pause, phase: 'end', time: 5801 },
  ];

  it('tells who believed, for how long, and what was done to them', () => {
    expect(findings(historyOf(paused, {}, faults))).toMatchObject([
      {
        code: 'belief-overlap',
        processes: ['c3', 'c7'],
        ops: [118, 131],
        at: 5204e6,
        faults: ['f7'],
        story:
          'c3 was granted k1 at 4.201 s (op 118) for 1 s; c3 was paused (fault f7: ordered at 4.290 s, proved by 4.300 s, ' +
          'over by 5.801 s). ' +
          'Its lease was certain only until 5.185 s, and c7 was granted k1 at 5.204 s (op 131) for 1 s, ' +
          'while c3 still believed until 5.812 s: for 0.608 s both did.',
        evidence: { overlapNanos: 608e6 },
      },
    ]);
  });

  it('says so where the holder had waited in the service for longer than its lease lasts', () => {
    const waited = [granted(118, 'c3', [2000, 4201]), ...paused.slice(1)];
    expect(findings(historyOf(waited, {}, faults))[0]?.story).toContain(
      'over by 5.801 s). It had waited for longer than a lease lasts, so none of it was certain, and c7 was granted',
    );
  });

  it('is none of clients that look at their deadline', () => {
    const looking = paused.map((one) =>
      one.op === 'acquire' ? { ...one, gets: { validUntil: (one.span[0] + 990) * 1e6 } } : one,
    );
    expect(found(historyOf(looking, { meta: { deadlineAware: true } }))).toEqual([]);
  });

  it('is none where two holds touch', () => {
    expect(
      found(
        historyOf([
          granted(1, 'c1', [0, 10]),
          granted(2, 'c2', [1000, 2000]),
          released(3, 'c1', [2000, 2010]),
        ]),
      ),
    ).toEqual([]);
  });

  it('is none within the clock error', () => {
    const steps = [
      granted(1, 'c1', [0, 10]),
      granted(2, 'c2', [1990, 2000]),
      released(3, 'c1', [2010, 2020], { released: false }),
    ];
    expect(found(historyOf(steps))).toEqual(['belief-overlap 1 2']);
    expect(found(historyOf(steps, { clockErrorNanos: 5e6 }))).toEqual([]);
    expect(found(historyOf(steps, { clockErrorNanos: 4e6 }))).toEqual(['belief-overlap 1 2']);
  });
});
