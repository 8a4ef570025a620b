// A history file, judged: the light half of `stored-run.ts`, which `lockpick check` loads for a bare history. Knows the
// file and the judge; no plan, no backend, no container.

import { monotonicClock, monotonicOrigin } from './clock.ts';
import { HarnessError } from './contract/errors.ts';
import { parseHistory } from './history/json-lines.ts';
import { HistoryError, type History } from './history/history.ts';
import { exitCodeOf, judge } from './judge.ts';
import { readRunFile } from './results.ts';
import type { Expectation, Verdict } from '../checkers/verdict.ts';

export interface Judgement {
  readonly history: History;
  readonly verdict: Verdict;
  readonly exitCode: number;
}

/** Reads and judges a history file. Throws HarnessError('usage') with file, line and rule if it is malformed. */
export function judgeFile(path: string, expectation: Expectation | null): Judgement {
  let history: History;
  try {
    history = parseHistory(readRunFile(path));
  } catch (error) {
    if (error instanceof HistoryError)
      throw new HarnessError('usage', `${path}, ${error.message}`, {
        remedy: 'a malformed history is never judged; results/README.md describes the format',
      });
    throw error;
  }
  const clock = monotonicClock(monotonicOrigin());
  const verdict = judge(history, expectation, () => clock.now() / 1e6);
  return { history, verdict, exitCode: exitCodeOf(verdict) };
}
