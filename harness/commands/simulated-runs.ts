// Many simulated runs at once, one worker thread a processor. Each is a world of its own, so what comes out is what one
// thread would make of them; and it is told in the order of the plans, whoever is done first.

import { Worker } from 'node:worker_threads';
import type { DoneRun } from '../comparison/comparison.ts';
import { HarnessError, messageOf, type HarnessErrorCode } from '../contract/errors.ts';
import type { Keep, ReportName } from '../plan/choices.ts';
import { cellName } from '../plan/cell-name.ts';
import type { Plan } from '../plan/plan.ts';
import { replayCommand } from '../stored/stored-run.ts';
import type { InterruptListener } from '../terminal/interrupt.ts';

/** What all runs of a thread have in common. */
export interface ThreadOptions {
  readonly out: string;
  readonly reports: ReadonlySet<ReportName>;
  readonly keep: Keep;
}

export type ToThread =
  | { readonly t: 'run'; readonly plan: Plan }
  /** The first and the second signal. */
  | { readonly t: 'wrap up' | 'abandon'; readonly signal: NodeJS.Signals };

/** What became of a plan; `isWhole`: no signal ended it early. */
interface Outcome {
  readonly run: DoneRun;
  readonly isWhole: boolean;
}

export type FromThread =
  | ({ readonly t: 'done' } & Outcome)
  | {
      readonly t: 'failed';
      readonly code: HarnessErrorCode;
      readonly message: string;
      readonly remedy: string | undefined;
      readonly detail: string | undefined;
    };

export interface SimulatedRunsOptions extends ThreadOptions {
  readonly threads: number;
  readonly interrupt: InterruptListener;
  /** Called for each run that is done, in the order of the plans. */
  readonly onDone: (nth: number, outcome: Outcome) => void;
}

/**
 * Runs all plans; fewer after a signal, or after one that could not be run. Throws HarnessError for that one, or
 * AggregateError for several, after all that are done were told.
 */
export async function runSimulated(plans: readonly Plan[], options: SimulatedRunsOptions): Promise<void> {
  const { threads, interrupt, onDone } = options;
  const outcomes: (Outcome | HarnessError | undefined)[] = plans.map(() => undefined);
  let begun = 0;
  let told = 0;
  const failures: HarnessError[] = [];

  const note = (nth: number, outcome: Outcome | HarnessError): void => {
    outcomes[nth] = outcome;
    for (let next = outcomes[told]; next !== undefined; next = outcomes[told]) tell(next);
  };
  const tell = (next: Outcome | HarnessError | undefined): void => {
    if (next instanceof HarnessError) failures.push(next);
    else if (next !== undefined) onDone(told, next);
    outcomes[told] = undefined;
    told += 1;
  };
  const work = async (): Promise<void> => {
    await using thread = openThread(options);
    for (;;) {
      const nth = begun;
      const plan = plans[nth];
      if (plan === undefined || interrupt.signal !== undefined) return;
      begun += 1;
      try {
        note(nth, await thread.run(plan));
      } catch (error) {
        // Nothing after it is begun; what has begun is waited for.
        begun = plans.length;
        note(nth, failureOf(plan, error));
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, plans.length) }, work));
  // Beyond one that was never begun.
  while (told < plans.length) tell(outcomes[told]);
  const [first, ...others] = failures;
  if (first !== undefined) throw others.length === 0 ? first : new AggregateError(failures);
}

/** A bug of ours happens again with the same plan. */
function failureOf(plan: Plan, error: unknown): HarnessError {
  if (error instanceof HarnessError && error.code !== 'internal') return error;
  const detail = error instanceof HarnessError ? error.detail : undefined;
  return new HarnessError(
    'internal',
    `${cellName(plan)} with seed ${plan.seed}: ${messageOf(error)}; this is a bug of lockpick itself`,
    {
      remedy: `please report it, with what makes it again: ${replayCommand(plan)}`,
      ...(detail !== undefined && { detail }),
      ...(error instanceof Error && error.cause !== undefined && { cause: error.cause }),
    },
  );
}

/** Of a thread that died. */
function deathOf(error: unknown): HarnessError {
  if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return new HarnessError('environment', 'a thread of the simulation ran out of memory', {
      remedy:
        'give it more, NODE_OPTIONS=--max-old-space-size=<megabytes>, or shorten the runs with --time-limit',
    });
  const stack = error instanceof Error ? error.stack : undefined;
  return new HarnessError('internal', `its thread died: ${messageOf(error)}`, {
    ...(stack !== undefined && { detail: stack }),
  });
}

interface Thread extends AsyncDisposable {
  /** Rejects with HarnessError if the plan cannot be run, or if the thread ends. */
  run(plan: Plan): Promise<Outcome>;
}

function openThread({ out, reports, keep, interrupt }: SimulatedRunsOptions): Thread {
  // `.ts` in a checkout, `.js` in the package.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const workerData: ThreadOptions = { out, reports, keep };
  const worker = new Worker(new URL(`./simulation-thread.${extension}`, import.meta.url), { workerData });
  const tell = (message: ToThread): void => worker.postMessage(message, []);
  const pass = (t: 'wrap up' | 'abandon') => (): void => {
    if (interrupt.signal !== undefined) tell({ t, signal: interrupt.signal });
  };
  const onWrapUp = pass('wrap up');
  const onAbandon = pass('abandon');
  interrupt.wrapUp.addEventListener('abort', onWrapUp);
  interrupt.abandon.addEventListener('abort', onAbandon);
  // A thread that is asked for nothing at the moment has nobody to tell.
  worker.on('error', () => undefined);

  return {
    run: (plan) =>
      new Promise((resolve, reject) => {
        const end = (settle: () => void): void => {
          worker.off('message', onMessage).off('error', onError).off('exit', onExit);
          settle();
        };
        const onMessage = (message: FromThread): void =>
          end(() => {
            if (message.t === 'done') return resolve(message);
            const { code, message: words, remedy, detail } = message;
            const said = { ...(remedy !== undefined && { remedy }), ...(detail !== undefined && { detail }) };
            reject(new HarnessError(code, words, said));
          });
        const onError = (error: unknown): void => end(() => reject(deathOf(error)));
        const onExit = (code: number): void =>
          end(() => reject(new HarnessError('internal', `its thread ended with ${code}`)));
        worker.on('message', onMessage).on('error', onError).on('exit', onExit);
        tell({ t: 'run', plan });
      }),
    async [Symbol.asyncDispose]() {
      interrupt.wrapUp.removeEventListener('abort', onWrapUp);
      interrupt.abandon.removeEventListener('abort', onAbandon);
      await worker.terminate();
    },
  };
}
