// `expired-grant`: an acquire that was answered when its own deadline had passed.

import { describe, expect, it } from 'vitest';
import { expiredGrant } from './expired-grant.ts';
import { grantColumnsOf } from '../harness/history/grants.ts';
import { granted, historyOf, type Step } from './scenario.fixture.ts';
import type { RuleResult } from './verdict.ts';

function judged(acquire: Step): RuleResult {
  const history = historyOf([acquire]);
  return expiredGrant(history, grantColumnsOf(history));
}

const until = (millis: number): Step['gets'] => ({ validUntil: millis * 1e6 });

describe('expired-grant', () => {
  it('has no validity left when it is answered', () => {
    expect(judged(granted(1, 'c1', [0, 1000], until(990)))).toMatchObject({
      verdict: 'invalid',
      findings: [
        {
          code: 'expired-grant',
          ops: [1],
          at: 1000e6,
          story:
            'c1 was granted k1 at 1.000 s (op 1) for 1 s, but by its own account the lock was valid only until ' +
            '0.990 s. It had asked at 0.000 s.',
        },
      ],
    });
    expect(judged(granted(1, 'c1', [0, 990], until(990))).verdict).toBe('invalid');
  });

  it.each([
    granted(1, 'c1', [0, 989], until(990)),
    granted(1, 'c1', [0, 1000]),
    granted(1, 'c1', [0, 1000], { type: 'info', ...until(990) }),
  ])('is none of %o', (acquire) => {
    expect(judged(acquire)).toEqual({ verdict: 'valid' });
  });
});
