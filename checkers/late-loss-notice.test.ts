// `late-loss-notice`: what is proved, and everything that must not be called late.

import { describe, expect, it } from 'vitest';
import { lateLossNotice } from './late-loss-notice.ts';
import { grantColumnsOf } from '../harness/history/grants.ts';
import { granted, historyOf, released, step, type Step } from './scenario.fixture.ts';
import type { RuleResult } from './verdict.ts';

type Lines = NonNullable<Parameters<typeof historyOf>[2]>;

const KEPT = { meta: { ttlMillis: 1000, keptAlive: true } };

function judged(
  steps: readonly Step[],
  more: Lines = [],
  header: Readonly<Record<string, unknown>> = KEPT,
): RuleResult {
  const history = historyOf(steps, header, more);
  return lateLossNotice(history, grantColumnsOf(history));
}

function late(
  steps: readonly Step[],
  more: Lines = [],
  header?: Readonly<Record<string, unknown>>,
): number | undefined {
  const result = judged(steps, more, header);
  if (result.verdict !== 'invalid') return undefined;
  return Number(result.findings[0].evidence['zombieNanos']) / 1e6;
}

/** c1's lease is over at 990 ms and c2 is granted the lock at 1200 ms; c1 goes on until `until`. */
function outlived(until: number, gets: Step['gets'] = { released: false }): Step[] {
  return [
    granted(1, 'c1', [0, 10]),
    granted(2, 'c2', [1100, 1200]),
    released(3, 'c1', [until, until + 10], gets),
  ];
}

function fault(id: string, from: number, to: number | undefined, target = 'c1', kind = 'pause'): Lines {
  const line = { type: 'fault', id, fault: kind, targets: [target] };
  return [
    { ...line, phase: 'begin', time: from },
    ...(to === undefined ? [] : [{ ...line, phase: 'end', time: to }]),
  ];
}

describe('late-loss-notice', () => {
  it('is the time from the next grant to the end of belief, when that is longer than the margin', () => {
    expect(judged(outlived(2000))).toMatchObject({
      verdict: 'invalid',
      findings: [
        {
          code: 'late-loss-notice',
          processes: ['c1', 'c2'],
          ops: [1, 2, 3],
          at: 2000e6,
          story:
            'c1 was granted k1 at 0.010 s (op 1) for 1 s. c2 was granted k1 at 1.200 s (op 2) for 1 s, so the tenure of ' +
            'c1 was over by then, and its release (op 3) found the lock gone. It went on believing until 2.000 s: ' +
            'at least 0.800 s too long.',
        },
      ],
    });
    expect(late(outlived(1700))).toBeUndefined();
    expect(late(outlived(1701))).toBe(501);
  });

  it('has a margin of half the TTL where that is longer', () => {
    const asks = { lock: 'k1', ttlMillis: 4000 };
    const steps = (until: number): Step[] => [
      step(1, 'c1', 'acquire', [0, 10], asks),
      step(2, 'c2', 'acquire', [4100, 4200], asks),
      released(3, 'c1', [until, until + 10], { released: false }),
    ];
    expect(late(steps(6200))).toBeUndefined();
    expect(late(steps(6201))).toBe(2001);
  });

  it('does not count the time for which the client stood still, and no pause twice', () => {
    expect(late(outlived(2800), fault('f1', 100, 2250))).toBe(550);
    // It stood still for some of the time at most, so that much is not held against it.
    expect(judged(outlived(2800), fault('f1', 100, 2250))).toMatchObject({
      findings: [
        {
          story: expect.stringMatching(
            / at least 0\.550 s too long, not counting 1\.050 s for which it may have been paused\.$/,
          ),
        },
      ],
    });
    expect(late(outlived(2800), fault('f1', 100, 2310))).toBeUndefined();
    expect(late(outlived(2800), [...fault('f1', 1000, 1700), ...fault('f2', 1500, 2000)])).toBe(800);
    expect(late(outlived(2800), fault('f1', 1200, undefined))).toBeUndefined();
    expect(late(outlived(2800), fault('f1', 100, 2700, 'e1'))).toBe(1600);
    expect(late(outlived(2800), fault('f1', 100, 2700, 'c1', 'partition'))).toBe(1600);
  });

  it('needs a library that keeps grants alive, or a renewal', () => {
    expect(late(outlived(2800), [], {})).toBeUndefined();
    const renewal = step(
      4,
      'c1',
      'renew',
      [300, 900],
      { lock: 'k1', ttlMillis: 1000 },
      { type: 'info', error: 'timeout' },
    );
    expect(late([...outlived(2800), renewal], [], {})).toBe(1600);
  });

  it('needs to be told in the end', () => {
    expect(late(outlived(2800, { released: undefined }))).toBeUndefined();
    expect(late(outlived(2800, { type: 'info', error: 'timeout', released: undefined }))).toBeUndefined();
    const lost = { type: 'lost', time: 2500, process: 'c1', lock: 'k1', reason: 'lease-lost' };
    expect(late(outlived(2800, { released: undefined }), [lost])).toBe(1300);
  });

  it('is none if the lock was given twice: then nobody could have been told', () => {
    const steps = [
      granted(1, 'c1', [0, 10]),
      granted(2, 'c2', [300, 400]),
      released(3, 'c1', [1900, 1910], { released: false }),
    ];
    expect(late(steps)).toBeUndefined();
    // The release proves that the first tenure was in force all the time.
    expect(late(outlived(2800, { released: true }))).toBeUndefined();
  });

  it('is none if the lock went to nobody, or to the same client, or after the end of belief', () => {
    const [first] = outlived(2800);
    const end = released(3, 'c1', [2800, 2810], { released: false });
    expect(late([first ?? end, end])).toBeUndefined();
    expect(late([first ?? end, granted(2, 'c1', [1100, 1200]), end])).toBeUndefined();
    expect(late([first ?? end, end, granted(2, 'c2', [2850, 2900])])).toBeUndefined();
  });
});
