// Rule `expired-grant` (2.3 of the design): an acquire answered `ok` when the validity it reports was already over. Both
// stamps are the client's own, so no clock error matters. Not a finding: a grant that had validity left when it was
// answered and lost it before it was used; that is the nature of leases, and `belief-overlap` tells what came of it.

import type { History } from '../harness/history/history.ts';
import type { Grant } from '../harness/history/grants.ts';
import { findingOf, inOrder } from './finding.ts';
import { resultOf, type Finding, type RuleResult } from './verdict.ts';
import { faultClause, grantPhrase, seconds } from './wording.ts';

export function expiredGrant(history: History, grants: readonly Grant[]): RuleResult<'expired-grant'> {
  const findings = grants.flatMap((grant): Finding<'expired-grant'>[] => {
    const { process, lock, acquire } = grant;
    const { id, invoked, completed, validUntil } = acquire;
    if (completed === undefined || validUntil === undefined || validUntil > completed) return [];
    return [
      findingOf(history, {
        code: 'expired-grant',
        lock,
        processes: [process],
        ops: [id],
        since: invoked,
        at: completed,
        story:
          `${grantPhrase(grant)}, but by its own account the lock was valid only until ${seconds(validUntil)}` +
          `${faultClause(history, process, invoked, completed)}. It had asked at ${seconds(invoked)}.`,
        evidence: { invoked, completed, validUntil },
      }),
    ];
  });
  return resultOf(inOrder(findings));
}
