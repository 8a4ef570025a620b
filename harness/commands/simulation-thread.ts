// A worker thread that simulates one plan after another. What it is told and what it says is in `simulated-runs.ts`, which
// starts it. Signals reach the main thread alone, which passes them on.

import { parentPort, workerData } from 'node:worker_threads';
import { HarnessError, messageOf } from '../contract/errors.ts';
import { onSimulation } from '../stages/on-simulation.ts';
import { recordRun } from './run-plan.ts';
import type { FromThread, ThreadOptions, ToThread } from './simulated-runs.ts';

const options: ThreadOptions = workerData;
const stage = onSimulation();
const wrapUp = new AbortController();
const abandon = new AbortController();
let signal: NodeJS.Signals | undefined;

const interrupt = {
  wrapUp: wrapUp.signal,
  abandon: abandon.signal,
  get signal() {
    return signal;
  },
};
const observer = { phase: () => undefined, event: () => undefined };
const say = (message: FromThread): void => parentPort?.postMessage(message, []);

async function obey(message: ToThread): Promise<void> {
  switch (message.t) {
    case 'wrap up':
      signal = message.signal;
      return wrapUp.abort(new HarnessError('environment', `stopped by ${signal} before the load began`));
    case 'abandon':
      return abandon.abort(new HarnessError('environment', `stopped by ${message.signal}: not judged`));
    case 'run': {
      const left: string[] = [];
      try {
        const judged = await recordRun(stage, message.plan, {
          ...options,
          observer,
          interrupt,
          say: (line) => left.push(line),
        });
        // Without its history, which is on disk.
        const { directory, plan, surroundings, verdict } = judged;
        say({ t: 'done', run: { directory, plan, surroundings, verdict }, isWhole: signal === undefined });
      } catch (error) {
        const known = error instanceof HarnessError ? error : undefined;
        const detail = known === undefined && error instanceof Error ? error.stack : known?.detail;
        say({
          t: 'failed',
          code: known?.code ?? 'internal',
          message: messageOf(error),
          remedy: known?.remedy,
          detail: [...(detail === undefined ? [] : [detail]), ...left].join('\n') || undefined,
        });
      }
    }
  }
}

parentPort?.on('message', (message: ToThread) => void obey(message));
