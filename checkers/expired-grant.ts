// Rule `expired-grant` (2.3 of the design): an acquire answered `ok` when the validity it reports was already over. Both
// stamps are the client's own, so no clock error matters. Not a finding: a grant that had validity left when it was
// answered and lost it before it was used; that is the nature of leases, and `belief-overlap` tells what came of it.

import type { History } from '../harness/history/history.ts';
import type { Grant, Grants } from '../harness/history/grants.ts';
import { NEVER } from '../harness/history/operation-columns.ts';
import { collector, findingOf } from './finding.ts';
import type { Finding, RuleResult } from './verdict.ts';
import { faultClause, grantPhrase, seconds } from './wording.ts';

export function expiredGrant(history: History, grants: Grants): RuleResult<'expired-grant'> {
  const findings = collector<'expired-grant'>();
  const { completed, validUntil } = history.columns;
  for (let place = 0; place < grants.size; place++) {
    const row = grants.acquire[place] ?? 0;
    if ((validUntil[row] ?? NEVER) > (completed[row] ?? 0)) continue;
    const grant = grants.at(place);
    findings.add('expired-grant', grant.lock, () => expired(history, grant));
  }
  return findings.result();
}

function expired(history: History, grant: Grant): Finding<'expired-grant'> {
  const { process, lock, acquire } = grant;
  const { id, invoked, completed = invoked, validUntil = invoked } = acquire;
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
