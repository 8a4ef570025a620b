// What the lock rules say of a history, for properties that hold for all of them together.

import { expect } from 'vitest';
import { applyRules } from './apply-rules.ts';
import { expiredGrant } from './expired-grant.ts';
import { foreignRelease } from './foreign-release.ts';
import { mutualExclusion } from './mutual-exclusion.ts';
import { tokenRegression } from './tokens.ts';
import type { Finding } from './verdict.ts';
import { grantColumnsOf } from '../harness/history/grants.ts';
import type { History } from '../harness/history/history.ts';

export function lockFindings(history: History): readonly Finding[] {
  const grants = grantColumnsOf(history);
  const { findings: found, checkers } = applyRules(
    { mutualExclusion, tokenRegression, foreignRelease, expiredGrant },
    history,
    grants,
    () => 0,
  );
  expect(checkers.filter(({ verdict }) => verdict === 'unknown')).toEqual([]);
  return found;
}

/** An `expired-grant` is true of any client that was paused while it asked, so it says nothing against the lock. */
export function againstTheLock(history: History): string[] {
  return lockFindings(history)
    .filter(({ code }) => code !== 'expired-grant')
    .map(({ code, story }) => `${code}: ${story}`);
}
