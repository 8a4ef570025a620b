// Of the faults that were proved to act, those during which a safety rule was broken: the rate that compares designs.
// Pure.

import { SAFETY_CODES, type SafetyCode, type Verdict } from '../../checkers/verdict.ts';
import type { Proportion } from './interval.ts';

type Judged = Pick<Verdict, 'findings' | 'power'>;

/** Over several runs; of one rule if it is named, else of any. Without trials if no fault acted. */
export function breakingFaults(verdicts: readonly Judged[], code?: SafetyCode): Proportion {
  let hits = 0;
  let trials = 0;
  for (const { findings, power } of verdicts) {
    const { acted } = power.faults;
    const breaking = findings.filter((finding) => code === undefined || finding.code === code);
    // Never more than acted: one that began and was not proved to act may be named by a finding as well.
    hits += Math.min(new Set(breaking.flatMap(({ faults }) => faults)).size, acted);
    trials += acted;
  }
  return { hits, trials };
}

/** How many of these faults broke each rule; a rule that none broke is left out. */
export function breakingFaultsByCode(
  verdicts: readonly Judged[],
): Readonly<Partial<Record<SafetyCode, number>>> {
  const hits = SAFETY_CODES.map((code) => [code, breakingFaults(verdicts, code).hits] as const);
  return Object.fromEntries(hits.filter(([, count]) => count > 0));
}
