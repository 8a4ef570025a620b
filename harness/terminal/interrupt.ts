// Ctrl-C and SIGTERM (6.1): the first asks for an orderly early end (stop the load, heal, judge what was recorded,
// write the report, remove the containers), the second for healing and removing only.

import { EXIT_CODE, HarnessError } from '../contract/errors.ts';
import type { Interrupt } from '../run.ts';

export interface InterruptListener extends Interrupt, Disposable {
  /** The first signal, if one came. */
  readonly signal: NodeJS.Signals | undefined;
  /** 130 or 143 after a signal. */
  readonly exitCode: number | undefined;
}

export function listenForInterrupt(): InterruptListener {
  const wrapUp = new AbortController();
  const abandon = new AbortController();
  let first: NodeJS.Signals | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (first === undefined) {
      first = signal;
      process.stderr.write(
        `\nlockpick: ${signal}: stopping the load, healing, judging; again: only clean up\n`,
      );
      wrapUp.abort(new HarnessError('environment', `stopped by ${signal} before the load began`));
    } else abandon.abort(new HarnessError('environment', `stopped by ${signal}: not judged`));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    wrapUp: wrapUp.signal,
    abandon: abandon.signal,
    get signal() {
      return first;
    },
    get exitCode() {
      if (first === undefined) return undefined;
      return first === 'SIGTERM' ? EXIT_CODE.terminated : EXIT_CODE.interrupted;
    },
    [Symbol.dispose]: () => {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}
