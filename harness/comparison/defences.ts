// Which defences of the store kept the data right over the runs of a cell, and which did not: the answer of a run, added
// up. Pure; knows no defence by name.

import { SAFETY_CODES, type SafetyCode, type Verdict } from '../../checkers/verdict.ts';

/** One store over the runs of a cell. */
export interface DefenceSummary {
  readonly name: string;
  /** Runs in which harm was found in it, in which none was, and in which that cannot be told. */
  readonly harmed: number;
  readonly held: number;
  readonly unknown: number;
  /** How often each code was found in it. */
  readonly findings: Readonly<Partial<Record<SafetyCode, number>>>;
}

/** In the order in which the runs name them; empty: the store was not used. */
export function defencesOf(verdicts: readonly Pick<Verdict, 'stores'>[]): readonly DefenceSummary[] {
  const stores = Map.groupBy(
    verdicts.flatMap((verdict) => verdict.stores),
    ({ name }) => name,
  );
  return [...stores].map(([name, results]) => {
    const runs = (verdict: (typeof results)[number]['verdict']): number =>
      results.filter((result) => result.verdict === verdict).length;
    const findings: Partial<Record<SafetyCode, number>> = {};
    for (const code of SAFETY_CODES) {
      const count = results.reduce((sum, result) => sum + (result.findings[code] ?? 0), 0);
      if (count > 0) findings[code] = count;
    }
    return { name, harmed: runs('invalid'), held: runs('valid'), unknown: runs('unknown'), findings };
  });
}

/** `✔ held`, `✖ harmed in 2 of 3: 7 × lost-update, 2 × oversold`: a cell's answer about one defence. */
export function defenceWords({ harmed, held, unknown, findings }: DefenceSummary): string {
  const runs = harmed + held + unknown;
  const found = Object.entries(findings).map(([code, count]) => `${count} × ${code}`);
  if (harmed > 0) return `✖ harmed in ${harmed} of ${runs}: ${found.join(', ')}`;
  return unknown > 0 ? `? cannot be told in ${unknown} of ${runs}` : '✔ held';
}
