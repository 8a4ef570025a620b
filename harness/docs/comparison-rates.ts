// How often what was done to a lock broke it: the cells of a comparison added up, a row a lock, a column a question. Pure.

import type { SafetyCode } from '../../checkers/verdict.ts';
import { percentText, type Proportion } from '../comparison/interval.ts';

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

export interface RatedCell {
  /** backend[:variant]/recipe/fault[/workload] */
  readonly cell: string;
  /** Their trials are the faults that were proved to act; null: none. */
  readonly breakingFaults: Proportion | null;
  readonly breakingFaultsByCode: Readonly<Partial<Record<SafetyCode, number>>>;
}

/** Head and rows; a lock to which none of it was done has none. */
export function ratesTable(locks: ReadonlyMap<string, readonly RatedCell[]>): readonly string[][] {
  const rows = [...locks].map(([lock, cells]) => [
    `\`${lock}\``,
    ...QUESTIONS.map((question) => answer(cells, question)),
  ]);
  return [
    ['lock', ...QUESTIONS.map(({ asked }) => asked)],
    ...rows.filter(([, ...answers]) => answers.some((words) => words !== NOT_ASKED)),
  ];
}

const NOT_ASKED = '–';

/** `96 % [80, 100] of 25` */
function answer(cells: readonly RatedCell[], { faults, code }: Question): string {
  let hits = 0;
  let trials = 0;
  for (const { cell, breakingFaults, breakingFaultsByCode } of cells) {
    if (!faults.includes(cell.split('/')[2] ?? '')) continue;
    hits += breakingFaultsByCode[code] ?? 0;
    trials += breakingFaults?.trials ?? 0;
  }
  return trials === 0 ? NOT_ASKED : `${percentText({ hits, trials })} of ${trials}`;
}
