// What a command says to a person beside its result: on stderr, and nothing of it if it was told to be quiet. Results
// and errors do not come this way.

import type { RunObserver } from '../run.ts';
import { showCount, showProgress, type Count } from './progress.ts';

export interface Aloud {
  readonly say: (line: string) => void;
  /** Shows how many of so many runs, of which several go on at once, are over, until it is disposed. */
  readonly count: (total: number) => Count & Disposable;
  /** Shows a run that goes on, until it is disposed. `title` names it; `timeLimitMillis` is that of the load. */
  readonly watch: (title: string, timeLimitMillis: number) => RunObserver & Disposable;
}

export function aloud({ quiet }: { readonly quiet: boolean }): Aloud {
  const screen = quiet ? { write: () => true } : process.stderr;
  return {
    say: (line) => screen.write(`${line}\n`),
    count: (total) => showCount(screen, total),
    watch: (title, timeLimitMillis) => showProgress(screen, title, timeLimitMillis),
  };
}
