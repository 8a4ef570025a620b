// In which order the runs of a comparison are shown, where not all can be. Pure.

import { cellName } from '../plan/cell-name.ts';
import type { DoneRun, Unit } from './comparison.ts';
import { TELLING } from './profiles.ts';
import { WORST_FIRST } from './summary.ts';

/**
 * Those that are not as expected before the others; of each kind one of each cell before the second of any, and of those
 * what is special about each backend, then one of each lock before the second of any.
 */
export function mostTellingFirst(units: readonly Unit[]): readonly DoneRun[] {
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
