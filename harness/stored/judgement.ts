// A history file, judged: the light half of `stored-run.ts`, which `lockpick check` loads for a bare history. Knows the
// file and the judge; no plan, no backend, no container.

import { monotonicClock, monotonicOrigin } from '../clock.ts';
import { readStoredHistory } from './history-file.ts';
import type { History } from '../history/history.ts';
import { exitCodeOf, judge } from '../judge.ts';
import type { Expectation, Verdict } from '../../checkers/verdict.ts';

export interface Judgement {
  readonly history: History;
  readonly verdict: Verdict;
  readonly exitCode: number;
}

/** Reads and judges a history of ours that is not compressed. Throws HarnessError('usage') with file, line and rule if it is malformed. */
export function judgeFile(path: string, expectation: Expectation | null): Judgement {
  return judgeHistory(readStoredHistory(path), expectation);
}

export function judgeHistory(history: History, expectation: Expectation | null): Judgement {
  const clock = monotonicClock(monotonicOrigin());
  const verdict = judge(history, expectation, () => clock.now() / 1e6);
  return { history, verdict, exitCode: exitCodeOf(verdict) };
}
