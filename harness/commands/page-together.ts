// The page of several runs: the matrix counts all of them, the most telling are shown whole.

import { existsSync } from 'node:fs';
import { HarnessError } from '../contract/errors.ts';
import type { DoneRun, Unit } from '../comparison/comparison.ts';
import { mostTellingFirst } from '../comparison/most-telling.ts';
import type { Trend } from '../comparison/trends.ts';
import type { JudgedRun } from '../report/judged-run.ts';
import { renderReport } from '../report/report.ts';
import { hasEvidence } from '../stored/results.ts';
import { judgeRun, reportedRun } from '../stored/stored-run.ts';

/** Each has its whole timeline: more than this many make no page that opens quickly. */
const RUNS_ON_A_PAGE = 20;

export interface PageTogether {
  readonly text: string;
  /** `all 3`, `the 20 most telling`. */
  readonly which: string;
}

/**
 * undefined: no run has kept what it would show. `links`: the page stands beside the runs, so that the pages of those it
 * does not show can be linked.
 */
export function pageTogether(
  units: readonly Unit[],
  options: {
    readonly links: boolean;
    readonly trends: readonly Trend[];
    readonly say: (line: string) => void;
  },
): PageTogether | undefined {
  const { links, trends, say } = options;
  const done = mostTellingFirst(units);
  const shown = done
    .filter(({ directory }) => hasEvidence(directory))
    .slice(0, RUNS_ON_A_PAGE)
    .flatMap((each) => shownAgain(each, say));
  if (shown.length === 0) return undefined;
  const names = new Set(shown.map(({ name }) => name));
  const others = done
    .map(({ directory: { name, report }, plan, verdict }) => ({
      name,
      plan,
      verdict,
      ...(links && existsSync(report) && { page: `${encodeURIComponent(name)}/report.html` }),
    }))
    .filter(({ name }) => !names.has(name));
  return {
    text: renderReport(shown, { others, trends }),
    which: shown.length === units.length ? `all ${shown.length}` : `the ${shown.length} most telling`,
  };
}

/** None if it cannot be read any more: a run of another version counts, by its verdict, and is not shown. */
function shownAgain({ directory }: DoneRun, say: (line: string) => void): readonly JudgedRun[] {
  try {
    return [reportedRun(judgeRun(directory))];
  } catch (error) {
    if (!(error instanceof HarnessError)) throw error;
    say(`not on the page: ${error.message}`);
    return [];
  }
}
