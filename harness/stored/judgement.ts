// A history file, judged: the light half of `stored-run.ts`, which `lockpick check` loads for a bare history. Knows the
// file and the judge; no plan, no backend, no container.

import { monotonicClock, monotonicOrigin } from '../clock.ts';
import { HarnessError } from '../contract/errors.ts';
import { readRecorded } from './history-file.ts';
import type { History } from '../history/history.ts';
import { exitCodeOf, judge } from '../judge.ts';
import type { Expectation, Verdict } from '../../checkers/verdict.ts';

export interface Judgement {
  readonly history: History;
  readonly verdict: Verdict;
  readonly exitCode: number;
}

/** Reads and judges a history file of ours. Throws HarnessError('usage') with file, line and rule if it is malformed. */
export function judgeFile(path: string, expectation: Expectation | null): Judgement {
  const recorded = readRecorded(path);
  if (recorded.format !== 'lockpick-history')
    throw new HarnessError('usage', `${path} is no lockpick history but looks like ${recorded.format}`, {
      remedy: 'judge it by a model: lockpick check --model …',
    });
  return judgeHistory(recorded.history, expectation);
}

export function judgeHistory(history: History, expectation: Expectation | null): Judgement {
  const clock = monotonicClock(monotonicOrigin());
  const verdict = judge(history, expectation, () => clock.now() / 1e6);
  return { history, verdict, exitCode: exitCodeOf(verdict) };
}
