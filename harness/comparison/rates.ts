// How often what was done to a lock broke it: the runs of a comparison added up, a row a lock, a column a question. Pure.

import type { SafetyCode } from '../../checkers/verdict.ts';
import { percentText, type Proportion } from './interval.ts';

interface Question {
  /** The head of its column. */
  readonly asked: string;
  /** What was done, as cells name it. */
  readonly faults: readonly string[];
  /** Counted are the faults that broke this rule. */
  readonly code: SafetyCode;
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
  },
  {
    asked: 'server clock set: granted to two',
    faults: ['clock-jump', 'clock-back', 'clock-drift', 'clock-strobe'],
    code: 'double-grant',
  },
  { asked: 'holder stopped: two believe', faults: ['pause-holder'], code: 'belief-overlap' },
  { asked: 'holder cut off: two believe', faults: ['partition-holder'], code: 'belief-overlap' },
];

/** What was done to a lock in one run, or in several that have the fault in common. */
export interface Tried {
  /** backend[:variant]/recipe */
  readonly lock: string;
  readonly fault: string;
  /** Of the faults that were proved to act, those that broke this rule. */
  readonly breaking: (code: SafetyCode) => Proportion;
}

export interface LockRates {
  readonly lock: string;
  /** In the order of the questions; undefined: none of these faults acted. */
  readonly answers: readonly (Proportion | undefined)[];
}

/** In the order in which the locks come first; one to which nothing of it was done is left out. O(tried). */
export function ratesOf(tried: readonly Tried[]): readonly LockRates[] {
  return [...Map.groupBy(tried, ({ lock }) => lock)]
    .map(([lock, own]) => ({ lock, answers: QUESTIONS.map((question) => answer(own, question)) }))
    .filter(({ answers }) => answers.some((proportion) => proportion !== undefined));
}

function answer(tried: readonly Tried[], { faults, code }: Question): Proportion | undefined {
  let hits = 0;
  let trials = 0;
  for (const { fault, breaking } of tried) {
    if (!faults.includes(fault)) continue;
    const proportion = breaking(code);
    hits += proportion.hits;
    trials += proportion.trials;
  }
  return trials === 0 ? undefined : { hits, trials };
}

/** `96 % [80, 100] of 25`, `–` */
export function answerText(proportion: Proportion | undefined): string {
  return proportion === undefined ? '–' : `${percentText(proportion)} of ${proportion.trials}`;
}
