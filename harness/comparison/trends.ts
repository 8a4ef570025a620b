// A cell over time: what results/history.jsonl says of its runs before those that are looked at now, and whether it came
// out as expected less often, or was broken more often, than chance explains. Pure.

import { z } from 'zod';
import { chanceOfSoFew, type Proportion } from './interval.ts';

/** A line of history.jsonl. Lines of older versions have no faults, and none of them was simulated. */
const pastRunSchema = z.object({
  run: z.string(),
  /** Wall time as text; sorts as it reads. */
  started: z.string(),
  cell: z.string(),
  simulated: z.boolean().default(false),
  asExpected: z.boolean(),
  /** How many were proved to act, and how many of these broke a rule. */
  faults: z.object({ acted: z.int().min(0), broke: z.int().min(0) }).optional(),
});
export type PastRun = z.output<typeof pastRunSchema>;

/** undefined: of another version, or damaged; one line more or less is no reason to stop. */
export function pastRunOf(line: object): PastRun | undefined {
  return pastRunSchema.safeParse(line).data;
}

export interface Trend {
  readonly cell: string;
  readonly simulated: boolean;
  /** In order of time; none of those that are looked at now. */
  readonly before: readonly PastRun[];
  readonly now: readonly PastRun[];
  /** What is worse now than chance explains, in words. */
  readonly worse: readonly string[];
}

/** In so few of a hundred comparisons without any change one of the cells is called worse. */
const FALSE_ALARMS = 0.01;

/** Of each cell that has runs now and before; `now` has the names of runs. O(n log n). */
export function trendsOf(past: readonly PastRun[], now: ReadonlySet<string>): readonly Trend[] {
  const inOrder = past.toSorted((a, b) => (a.started < b.started ? -1 : 1));
  const cells = [...Map.groupBy(inOrder, ({ cell, simulated }) => `${cell} ${simulated}`).values()]
    .map((runs) => ({
      before: runs.filter(({ run }) => !now.has(run)),
      now: runs.filter(({ run }) => now.has(run)),
    }))
    .filter((runs) => runs.before.length > 0 && runs.now.length > 0);
  // Two questions a cell, each of which may be answered wrongly by chance (Bonferroni).
  const chance = FALSE_ALARMS / (2 * cells.length);
  return cells.flatMap((runs) => {
    const [first] = runs.now;
    if (first === undefined) return [];
    const { cell, simulated } = first;
    return [{ cell, simulated, ...runs, worse: worseOf(runs, chance) }];
  });
}

function worseOf({ before, now }: Pick<Trend, 'before' | 'now'>, chance: number): readonly string[] {
  const expected = [asExpected(now), asExpected(before)] as const;
  const broken = [brokeRule(now), brokeRule(before)] as const;
  const words: string[] = [];
  if (chanceOfSoFew(...expected) < chance) words.push(`as expected in ${compared(expected, 'runs')}`);
  if (chanceOfSoFew(misses(broken[0]), misses(broken[1])) < chance)
    words.push(`a rule was broken under ${compared(broken, 'faults')}`);
  return words;
}

function compared([now, before]: readonly [Proportion, Proportion], of: string): string {
  return `${now.hits} of ${now.trials} ${of}, before in ${before.hits} of ${before.trials}`;
}

function misses({ hits, trials }: Proportion): Proportion {
  return { hits: trials - hits, trials };
}

export function asExpected(runs: readonly PastRun[]): Proportion {
  return { hits: runs.filter((run) => run.asExpected).length, trials: runs.length };
}

/** Of the faults that acted, those that broke a rule. */
export function brokeRule(runs: readonly PastRun[]): Proportion {
  const sum = (of: 'acted' | 'broke'): number =>
    runs.reduce((total, { faults }) => total + (faults?.[of] ?? 0), 0);
  return { hits: sum('broke'), trials: sum('acted') };
}
