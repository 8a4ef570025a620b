// What tests of the page have in common: a run that fails, others like it, and what is in a page. `report.test.ts` reads
// its text, `timeline-columns.test.ts` what its script gets.

import { judge } from '../judge.ts';
import type { History } from '../history/history.ts';
import { fakeRun } from '../testing/fake-run.ts';
import type { JudgedRun } from './judged-run.ts';
import type { TimelineColumns } from './timeline-columns.ts';

export const failing = fakeRun();

/** A run like `failing` of another history. */
export function judged(history: History, changes: Partial<JudgedRun> = {}): JudgedRun {
  return { ...failing, history, verdict: judge(history, null, () => 0), ...changes };
}

/** Without markup, blanks folded. */
export function plainText(markup: string): string {
  return markup.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}

/** The page's module, which the compiler of these sources does not see. */
export const unpack: {
  unpacked(element: { textContent: string }): { columns: TimelineColumns };
} = await import(new URL('./page/unpack.js', import.meta.url).href);

/** What the page's own script gets out of the page. */
export function columnsIn(text: string): TimelineColumns {
  const textContent = /id="run-1-columns">([^<]*)</.exec(text)?.[1] ?? '';
  const { columns } = unpack.unpacked({ textContent });
  return columns;
}
