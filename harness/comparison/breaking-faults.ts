// Of the faults that were proved to act, those during which a safety rule was broken: the rate that compares designs.
// Pure.

import type { Verdict } from '../../checkers/verdict.ts';
import type { Proportion } from './interval.ts';

/** Over several runs. Without trials if no fault acted. */
export function breakingFaults(verdicts: readonly Pick<Verdict, 'findings' | 'power'>[]): Proportion {
  let hits = 0;
  let trials = 0;
  for (const { findings, power } of verdicts) {
    const { acted } = power.faults;
    // Never more than acted: one that began and was not proved to act may be named by a finding as well.
    hits += Math.min(new Set(findings.flatMap(({ faults }) => faults)).size, acted);
    trials += acted;
  }
  return { hits, trials };
}
