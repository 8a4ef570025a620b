// The other story: history → grants → rules → verdict. `run.ts` recorded; this judges, and touches no container, so a
// stored history can be judged again. The table of all rules is here; the exit code follows from the verdict's `outcome`.

import { EXIT_CODE } from './contract/errors.ts';
import { grantColumnsOf } from './history/grants.ts';
import type { History } from './history/history.ts';
import { applyRules, type NamedRules } from '../checkers/apply-rules.ts';
import { duplicateEffect } from '../checkers/duplicate-effect.ts';
import { surprisesOf } from '../checkers/expectation.ts';
import { expiredGrant } from '../checkers/expired-grant.ts';
import { foreignRelease } from '../checkers/foreign-release.ts';
import { gradeOf } from '../checkers/grade.ts';
import { handoverOf } from '../checkers/handover.ts';
import { lateLossNotice } from '../checkers/late-loss-notice.ts';
import { liveness } from '../checkers/liveness.ts';
import { lostUpdate } from '../checkers/lost-update.ts';
import { mutualExclusion } from '../checkers/mutual-exclusion.ts';
import { orphanState } from '../checkers/orphan-state.ts';
import { oversold } from '../checkers/oversold.ts';
import { powerOf, starvedWords } from '../checkers/power.ts';
import { breaksAnyway } from '../checkers/promises.ts';
import { starvation } from '../checkers/starvation.ts';
import { staleWrite } from '../checkers/stale-write.ts';
import { storeFencing } from '../checkers/store-fencing.ts';
import { storeResultsOf } from '../checkers/store-results.ts';
import { tokenRegression } from '../checkers/tokens.ts';
import type { Expectation, LivenessCode, SafetyCode, Verdict } from '../checkers/verdict.ts';
import { wasteOf } from '../checkers/waste.ts';

export interface Rules {
  readonly safety: NamedRules<SafetyCode>;
  readonly liveness: NamedRules<LivenessCode>;
}

const allRules: Rules = {
  safety: {
    'mutual-exclusion': mutualExclusion,
    tokens: tokenRegression,
    'foreign-release': foreignRelease,
    'expired-grant': expiredGrant,
    'late-loss-notice': lateLossNotice,
    'store-fencing': storeFencing,
    'stale-write': staleWrite,
    'lost-update': lostUpdate,
    oversold,
    'duplicate-effect': duplicateEffect,
  },
  liveness: { liveness, 'orphan-state': orphanState, starvation },
};

/** `expectation`: of the catalogued cell; null: there is none. O(n log n + findings). */
export function judge(
  history: History,
  expectation: Expectation | null,
  nowMillis: () => number,
  rules: Rules = allRules,
): Verdict {
  const grants = grantColumnsOf(history);
  const safety = applyRules(rules.safety, history, grants, nowMillis);
  const alive = applyRules(rules.liveness, history, grants, nowMillis);
  const checkers = [...safety.checkers, ...alive.checkers];
  const { findings } = safety;
  const power = powerOf(history, grants, findings);
  const unknown = safety.checkers.some(({ verdict }) => verdict === 'unknown');
  const grade = gradeOf({ meta: history.header.meta, grants, findings, power, unknown });

  const weak = grade === 'inconclusive' ? power.warnings.filter(({ decisive }) => decisive) : [];
  const doubts = [
    ...checkers
      .filter(({ verdict }) => verdict === 'unknown')
      .map(({ name, reason }) => `${name} cannot tell: ${reason}`),
    ...weak.map(({ message }) => `inconclusive: ${message}`),
  ];
  const stores = storeResultsOf(history, findings);
  const waste = wasteOf(history);
  const handover = handoverOf(history, grants);
  const found = {
    grade,
    findings,
    liveness: alive.findings,
    stores,
    broken: findings.filter((finding) => breaksAnyway(finding, history.header.meta)),
    queueJumps: handover?.queueJumps?.count ?? 0,
    doubts,
    starved: starvedWords(history),
  };
  const surprises = surprisesOf(found, expectation);
  const outcome = surprises[0]?.outcome ?? 'ok';
  // Nobody promised that a history without an expectation is conclusive.
  const asExpected = outcome === 'ok' || (expectation === null && outcome === 'inconclusive');
  return {
    schemaVersion: 1,
    verdict: findings.length > 0 ? 'invalid' : grade === 'inconclusive' ? 'unknown' : 'valid',
    grade,
    expected: expectation?.grade ?? null,
    asExpected,
    findings,
    liveness: alive.findings,
    stores,
    measures: { ...(waste !== undefined && { waste }), ...(handover !== undefined && { handover }) },
    power,
    checkers,
    surprises: asExpected ? [] : surprises.map(({ words }) => words),
    outcome,
  };
}

/** 1 violation · 3 threshold · 2 inconclusive · 0 (2.4). */
export function exitCodeOf({ outcome }: Verdict): number {
  return EXIT_CODE[outcome];
}
