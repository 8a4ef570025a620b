// Many simulated runs at once, one worker thread a processor. Each is a world of its own, so what comes out is what one
// thread would make of them; and it is told in the order of the plans, whoever is done first.

import { Worker } from 'node:worker_threads';
import type { DoneRun } from '../comparison/comparison.ts';
import { HarnessError, messageOf, type HarnessErrorCode } from '../contract/errors.ts';
import type { Keep, ReportName } from '../plan/choices.ts';
import type { Plan } from '../plan/plan.ts';
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
  /** Called for each run, in the order of the plans. */
  readonly onDone: (nth: number, outcome: Outcome) => void;
}

/**
 * Runs all plans; fewer after a signal. Throws HarnessError for the first plan that could not be run, after all before it
 * were told.
 */
export async function runSimulated(plans: readonly Plan[], options: SimulatedRunsOptions): Promise<void> {
  const { threads, interrupt, onDone } = options;
  const outcomes: (Outcome | HarnessError | undefined)[] = plans.map(() => undefined);
  let begun = 0;
  let told = 0;
  const failures: HarnessError[] = [];

  const note = (nth: number, outcome: Outcome | HarnessError): void => {
    outcomes[nth] = outcome;
    for (let next = outcomes[told]; next !== undefined && failures.length === 0; next = outcomes[told]) {
      if (next instanceof HarnessError) failures.push(next);
      else onDone(told, next);
      outcomes[told] = undefined;
      told += 1;
    }
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
        note(nth, asHarnessError(error));
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, plans.length) }, work));
  const [first] = failures;
  if (first !== undefined) throw first;
}

function asHarnessError(error: unknown): HarnessError {
  if (error instanceof HarnessError) return error;
  return new HarnessError('internal', messageOf(error), { cause: error });
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
        const onError = (error: unknown): void =>
          end(() =>
            reject(new HarnessError('internal', 'a thread of the simulation broke', { cause: error })),
          );
        const onExit = (code: number): void =>
          end(() => reject(new HarnessError('internal', `a thread of the simulation ended with ${code}`)));
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
