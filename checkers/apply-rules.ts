// Runs rules over one history and keeps what each said and how long it took. A rule that throws has found nothing out:
// its checker is `unknown`, with the reason, and never valid by silence (I7). Pure, but for the clock it is handed.

import type { Grants } from '../harness/history/grants.ts';
import type { History } from '../harness/history/history.ts';
import { inOrder, OMITTED_MAX, quota } from './finding.ts';
import type { Finding, FindingCode, RuleResult, Verdict } from './verdict.ts';

type Rule<Code extends FindingCode> = (history: History, grants: Grants) => RuleResult<Code>;

/** The name of a rule is that of its checker in the verdict. */
export type NamedRules<Code extends FindingCode> = Readonly<Record<string, Rule<Code>>>;

export interface Applied<Code extends FindingCode> {
  /** Of all rules, by time. */
  readonly findings: readonly Finding<Code>[];
  readonly checkers: Verdict['checkers'];
}

export function applyRules<Code extends FindingCode>(
  rules: NamedRules<Code>,
  history: History,
  grants: Grants,
  nowMillis: () => number,
): Applied<Code> {
  const findings: Finding<Code>[] = [];
  const checkers = Object.entries(rules).map(([name, rule]) => {
    const began = nowMillis();
    const result = attempt(() => rule(history, grants));
    const millis = Math.round((nowMillis() - began) * 1e3) / 1e3;
    let unlisted = result.verdict === 'invalid' ? (result.omitted ?? 0) : 0;
    const listed = quota();
    for (const finding of result.verdict === 'invalid' ? result.findings : [])
      if (listed(finding)) findings.push(finding);
      else unlisted += 1;
    const reason = reasonOf(result, unlisted);
    return { name, verdict: result.verdict, millis, ...(reason !== undefined && { reason }) };
  });
  return { findings: inOrder(findings), checkers };
}

function reasonOf(result: RuleResult, unlisted: number): string | undefined {
  if (result.verdict === 'unknown') return result.reason;
  const atLeast = unlisted < OMITTED_MAX ? '' : 'at least ';
  return unlisted === 0 ? undefined : `${atLeast}${unlisted} more findings are not listed`;
}

function attempt<Code extends FindingCode>(rule: () => RuleResult<Code>): RuleResult<Code> {
  try {
    return rule();
  } catch (error) {
    return {
      verdict: 'unknown',
      reason: `it failed: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}
