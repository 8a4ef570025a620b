// `token-regression`: what proves it, what looks like one and is none, and agreement with the definition.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { grantColumnsOf } from '../harness/history/grants.ts';
import type { History } from '../harness/history/history.ts';
import { granted, historyOf, released, step, type Step } from './scenario.fixture.ts';
import { tokenRegression } from './tokens.ts';
import type { Finding } from './verdict.ts';

function findings(history: History): readonly Finding[] {
  const result = tokenRegression(history, grantColumnsOf(history));
  return result.verdict === 'invalid' ? result.findings : [];
}

function ops(history: History): (readonly number[])[] {
  return findings(history).map((finding) => finding.ops);
}

const token = (text: string): { token: string } => ({ token: text });

/** c1 was granted token 8 and released; then c2 is granted this one. */
function second(text: string): History {
  return historyOf([
    granted(1, 'c1', [0, 10], token('8')),
    released(2, 'c1', [20, 30]),
    granted(3, 'c2', [40, 50], token(text)),
  ]);
}

describe('token-regression', () => {
  it('is a later grant with a token that is not higher', () => {
    expect(ops(second('7'))).toEqual([[1, 3]]);
    expect(ops(second('8'))).toEqual([[1, 3]]);
    expect(ops(second('9'))).toEqual([]);
    expect(ops(second('10'))).toEqual([]);
    expect(findings(second('7'))[0]).toMatchObject({
      code: 'token-regression',
      lock: 'k1',
      processes: ['c1', 'c2'],
      at: 50e6,
      story:
        'c1 was granted k1 at 0.010 s (op 1) for 1 s with token 8. After that, at 0.040 s, c2 asked for k1: ' +
        'c2 was granted k1 at 0.050 s (op 3) for 1 s with token 7, which is lower.',
      evidence: { tokens: ['8', '7'] },
    });
  });

  it('is found against the highest token before, not the last', () => {
    const history = historyOf([
      granted(1, 'c1', [0, 10], token('9')),
      granted(2, 'c2', [20, 30], token('3')),
      granted(3, 'c3', [40, 50], token('5')),
    ]);
    expect(ops(history)).toEqual([
      [1, 2],
      [1, 3],
    ]);
  });

  it('is none of two acquires that were in flight at once', () => {
    expect(
      ops(historyOf([granted(1, 'c1', [0, 10], token('8')), granted(2, 'c2', [10, 20], token('7'))])),
    ).toEqual([]);
    expect(
      ops(historyOf([granted(1, 'c1', [0, 10], token('8')), granted(2, 'c2', [11, 20], token('7'))])),
    ).toEqual([[1, 2]]);
  });

  it('is none within the clock error', () => {
    const steps = [granted(1, 'c1', [0, 10], token('8')), granted(2, 'c2', [12, 20], token('7'))];
    expect(ops(historyOf(steps, { clockErrorNanos: 1e6 }))).toEqual([]);
    expect(ops(historyOf(steps, { clockErrorNanos: 0.9e6 }))).toEqual([[1, 2]]);
  });

  it('is none of two locks, and needs two tokens', () => {
    const other = step(2, 'c2', 'acquire', [40, 50], { lock: 'k2', ttlMillis: 1000 }, token('7'));
    expect(ops(historyOf([granted(1, 'c1', [0, 10], token('8')), other]))).toEqual([]);
    expect(ops(historyOf([granted(1, 'c1', [0, 10], token('8')), granted(2, 'c2', [40, 50])]))).toEqual([]);
  });

  it('takes no token from an acquire of unknown outcome', () => {
    const unknown = granted(1, 'c1', [0, 10], { type: 'info', ...token('99') });
    expect(ops(historyOf([unknown, granted(2, 'c2', [20, 30], token('7'))]))).toEqual([]);
  });
});

/** Token 8 again for c1, asked for at 500 ms. */
function again(...between: readonly Step[]): History {
  return late(500, ...between);
}

/** Token 8 again for c1, asked for at `asked`. */
function late(asked: number, ...between: readonly Step[]): History {
  return historyOf([
    granted(1, 'c1', [0, 10], token('8')),
    ...between,
    granted(9, 'c1', [asked, asked + 10], token('8')),
  ]);
}

function renew(type: string): Step {
  return step(2, 'c1', 'renew', [500, 510], { lock: 'k1', ttlMillis: 1000 }, { type });
}

describe('the same token again', () => {
  it('is a re-entry of the process that still holds it', () => {
    expect(ops(again())).toEqual([]);
    expect(
      ops(again(step(2, 'c1', 'acquire', [100, 110], { lock: 'k1' }, { type: 'fail', error: 'busy' }))),
    ).toEqual([]);
  });

  it('is a new tenure after a release that says it ended one', () => {
    expect(ops(again(released(2, 'c1', [100, 110])))).toEqual([[1, 9]]);
    expect(ops(again(released(2, 'c1', [100, 110], { released: false })))).toEqual([[1, 9]]);
    // A count went down, perhaps: it does not say.
    expect(ops(again(step(2, 'c1', 'release', [100, 110], { lock: 'k1' })))).toEqual([]);
    expect(ops(again(released(2, 'c1', [100, 110], { type: 'info' })))).toEqual([]);
    expect(ops(again(released(2, 'c1', [100, 510])))).toEqual([]);
  });

  it('is a new tenure after a loss', () => {
    const history = historyOf(
      [granted(1, 'c1', [0, 10], token('8')), granted(9, 'c1', [500, 510], token('8'))],
      {},
      [{ type: 'lost', process: 'c1', lock: 'k1', time: 100 }],
    );
    expect(ops(history)).toEqual([[1, 9]]);
  });

  it('is a new tenure once the lease is surely over', () => {
    expect(ops(late(1021))).toEqual([[1, 9]]);
    // 10 ms + 1 s at a clock that is 1 % slow.
    expect(ops(late(1020))).toEqual([]);
    expect(ops(late(1400, renew('ok')))).toEqual([]);
    expect(ops(late(1600, renew('ok')))).toEqual([[1, 9]]);
    expect(ops(late(1600, renew('info')))).toEqual([]);
    expect(ops(late(1400, renew('fail')))).toEqual([[1, 9]]);
    // Another attempt may have entered again meanwhile, and prolonged it.
    expect(ops(late(1400, granted(2, 'c1', [500, 510], { type: 'info' })))).toEqual([]);
  });

  it('of another process is no re-entry', () => {
    const history = historyOf([
      granted(1, 'c1', [0, 10], token('8')),
      granted(2, 'c2', [20, 30], token('8')),
      granted(3, 'c2', [40, 50], token('8')),
    ]);
    expect(ops(history)).toEqual([
      [1, 2],
      [1, 3],
    ]);
  });
});

describe('the sweep', () => {
  it('blames exactly the grants that some earlier one of another process contradicts', () => {
    const grant = fc.record({
      process: fc.integer({ min: 1, max: 4 }),
      invoked: fc.integer({ min: 0, max: 40 }),
      lasts: fc.integer({ min: 0, max: 15 }),
      token: fc.integer({ min: 0, max: 9 }),
    });
    fc.assert(
      fc.property(fc.array(grant, { maxLength: 12 }), fc.constantFrom(0, 1), (grants, error) => {
        // A process of its own for each grant: no re-entry.
        const history = historyOf(
          grants.map(({ process, invoked, lasts, token: number }, index) =>
            granted(index, `p${process}-${index}`, [invoked, invoked + lasts], token(String(number))),
          ),
          { clockErrorNanos: error * 1e6 },
        );
        const expected = grants.flatMap((later, index) =>
          grants.some(
            (earlier) =>
              earlier.invoked + earlier.lasts + error < later.invoked - error && later.token <= earlier.token,
          )
            ? [index]
            : [],
        );
        const blamed = ops(history).map(([, later = -1]) => later);
        expect(blamed.toSorted((a, b) => a - b)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});
