// Rule `expired-grant` (2.3 of the design): an acquire answered `ok` when the validity it reports was already over. Both
// stamps are the client's own, so no clock error matters. Not a finding: a grant that had validity left when it was
// answered and lost it before it was used; that is the nature of leases, and `belief-overlap` tells what came of it.

import type { History } from '../harness/history/history.ts';
import type { Grant } from '../harness/history/grants.ts';
import type { Nanos } from '../harness/history/op.ts';
import { collector, findingOf } from './finding.ts';
import type { Finding, RuleResult } from './verdict.ts';
import { faultClause, grantPhrase, seconds } from './wording.ts';

export function expiredGrant(history: History, grants: readonly Grant[]): RuleResult<'expired-grant'> {
  const findings = collector<'expired-grant'>();
  for (const grant of grants) {
    const { completed, validUntil } = grant.acquire;
    if (completed !== undefined && validUntil !== undefined && validUntil <= completed)
      findings.add('expired-grant', () => expired(history, grant, { completed, validUntil }));
  }
  return findings.result();
}

function expired(
  history: History,
  grant: Grant,
  { completed, validUntil }: { readonly completed: Nanos; readonly validUntil: Nanos },
): Finding<'expired-grant'> {
  const { process, lock, acquire } = grant;
  const { id, invoked } = acquire;
  return findingOf(history, {
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
  });
}
