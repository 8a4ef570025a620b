// How often what was done to a lock broke it: the runs of a comparison added up, a row a lock, a column a question. Pure.

import type { SafetyCode } from '../../checkers/verdict.ts';
import { percentText, type Proportion } from './interval.ts';

interface Question {
  /** The head of its column. */
  readonly asked: string;
  /** What was done, as cells name it. */
  readonly faults: readonly string[];
  /** Counted is what broke this rule. */
  readonly code: SafetyCode;
  /**
   * What is counted: faults, where each is one attempt by itself; runs, where several belong together (a cut, a kill, a
   * promotion), or where harm may come after them.
   */
  readonly of: 'runs' | 'faults';
}

export const QUESTIONS: readonly Question[] = [
  {
    asked: 'server lost: granted to two',
    faults: [
      'lose-primary',
      'lose-acknowledged',
      'kill-isolated-primary',
      'order-failover',
      'restart-voter',
      'restart-voter-empty',
      'kill-minority',
      'kill-server',
      'lose-power',
      'kill-leader',
      'partition-leader',
    ],
    code: 'double-grant',
    of: 'runs',
  },
  {
    asked: 'server stopped or slow: granted to two',
    faults: [
      'pause-server',
      'pause-leader',
      'stall-server',
      'stall-leader',
      'slow-fsync',
      'disk-full',
      'cpu-starve',
      'lose-replies',
      'bridge',
    ],
    code: 'double-grant',
    of: 'runs',
  },
  {
    asked: 'server clock set: granted to two',
    faults: ['clock-jump', 'clock-back', 'clock-drift', 'clock-strobe'],
    code: 'double-grant',
    of: 'runs',
  },
  { asked: 'holder stopped: two believe', faults: ['pause-holder'], code: 'belief-overlap', of: 'faults' },
  {
    asked: 'holder cut off: two believe',
    faults: ['partition-holder'],
    code: 'belief-overlap',
    of: 'faults',
  },
];

/** What was done to a lock in one run, or in several that have the fault in common. */
export interface Tried {
  /** backend[:variant]/recipe */
  readonly lock: string;
  readonly fault: string;
  /** Of the faults that were proved to act, those that broke this rule. */
  readonly faults: (code: SafetyCode) => Proportion;
  /** Of the runs, those in which it was broken. */
  readonly runs: (code: SafetyCode) => Proportion;
}

interface Answer extends Proportion, Pick<Question, 'of'> {
  /** How many faults acted. */
  readonly faults: number;
}

export interface LockRates {
  readonly lock: string;
  /** In the order of the questions; undefined: none of these faults acted. */
  readonly answers: readonly (Answer | undefined)[];
}

/** In the order in which the locks come first; one to which nothing of it was done is left out. O(tried). */
export function ratesOf(tried: readonly Tried[]): readonly LockRates[] {
  return [...Map.groupBy(tried, ({ lock }) => lock)]
    .map(([lock, own]) => ({ lock, answers: QUESTIONS.map((question) => answerOf(own, question)) }))
    .filter(({ answers }) => answers.some((answer) => answer !== undefined));
}

function answerOf(all: readonly Tried[], question: Question): Answer | undefined {
  const { code, of } = question;
  const tried = all.filter(({ fault }) => question.faults.includes(fault));
  const faults = added(tried.map((each) => each.faults(code)));
  if (faults.trials === 0) return undefined;
  const counted = of === 'faults' ? faults : added(tried.map((each) => each.runs(code)));
  return { ...counted, of, faults: faults.trials };
}

function added(proportions: readonly Proportion[]): Proportion {
  return {
    hits: proportions.reduce((sum, { hits }) => sum + hits, 0),
    trials: proportions.reduce((sum, { trials }) => sum + trials, 0),
  };
}

/** `86 % [74, 94] of 56 faults`, `0 % [0, 20] of 17 runs, 45 faults`, `–` */
export function answerText(answer: Answer | undefined): string {
  if (answer === undefined) return '–';
  const unit = answer.trials === 1 ? answer.of.slice(0, -1) : answer.of;
  const counted = `${percentText(answer)} of ${answer.trials} ${unit}`;
  return answer.of === 'faults' ? counted : `${counted}, ${answer.faults} faults`;
}
