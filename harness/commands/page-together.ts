// The page of several runs: the matrix counts all of them, the most telling are shown whole.

import { existsSync } from 'node:fs';
import { HarnessError } from '../contract/errors.ts';
import { WORST_FIRST } from '../comparison/summary.ts';
import type { DoneRun, Unit } from '../comparison/comparison.ts';
import { TELLING } from '../comparison/profiles.ts';
import type { Trend } from '../comparison/trends.ts';
import { cellName } from '../plan/cell-name.ts';
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

/**
 * Those that are not as expected before the others; of each kind one of each cell before the second of any, and of those
 * what is special about each backend, then one of each lock before the second of any.
 */
function mostTellingFirst(units: readonly Unit[]): readonly DoneRun[] {
  const seen = new Map<string, number>();
  const nthOf = (name: string): number => {
    const nth = seen.get(name) ?? 0;
    seen.set(name, nth + 1);
    return nth;
  };
  return units
    .flatMap(({ plan, run: done }) => {
      if (done === undefined) return [];
      const cell = cellName(plan);
      const nth = nthOf(cell);
      return [
        {
          done,
          order: [
            WORST_FIRST.indexOf(done.verdict.outcome),
            nth,
            TELLING.some((telling) => telling.cell === cell) ? 0 : 1,
            nthOf(`${nth} ${cell.split('/').slice(0, 2).join('/')}`),
          ],
        },
      ];
    })
    .toSorted((a, b) => inOrder(a.order, b.order))
    .map(({ done }) => done);
}

function inOrder(a: readonly number[], b: readonly number[]): number {
  const differing = a.findIndex((value, position) => value !== b[position]);
  return differing === -1 ? 0 : (a[differing] ?? 0) - (b[differing] ?? 0);
}
