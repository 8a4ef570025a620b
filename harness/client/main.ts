// The process inside a client container, bundled into one file by `bundle.ts`: commands of the coordinator come in on
// stdin, history events and answers go out on stdout, one JSON value a line (`contract/control.ts`). It is PID 1 there,
// so it can be stopped and killed alone, and must end itself: on SIGTERM, and when stdin ends (the harness is gone).
// What it does with the commands is in `program.ts`.

import { createInterface } from 'node:readline';
import { backends } from '../backends/index.ts';
import { monotonicClock, monotonicOrigin, wallTime } from '../clock.ts';
import { decodeToClient, type ClientConfig, type FromClient } from '../contract/control.ts';
import { EXIT_CODE, HarnessError } from '../contract/errors.ts';
import type { Recipe } from '../contract/lock-client.ts';
import { encodeEvent } from '../history/encode-event.ts';
import { openStore } from '../postgres-store/client.ts';
import { openAdapter } from './adapter-client.ts';
import { adapters } from './adapters.ts';
import { openLineWriter } from './line-writer.ts';
import { releaseGarbage } from './memory.ts';
import { clientProgram, named } from './program.ts';

const STDOUT = 1;
const lines = openLineWriter(STDOUT);

function answer(message: FromClient): void {
  lines.now(JSON.stringify(message));
}

/** One of ours, or the user's, held to the contract. */
function recipeNamed({ backend, recipe }: Pick<ClientConfig, 'backend' | 'recipe'>): Recipe {
  const own = adapters.find(({ name }) => name === recipe);
  if (own === undefined) return named(named(backends, backend).recipes, recipe);
  return { ...own, open: (context) => openAdapter(own, context) };
}

const obey = clientProgram(
  {
    clock: monotonicClock,
    wallMillis: () => wallTime().getTime(),
    answer,
    record: (event) => lines[event.type === 'invoke' ? 'now' : 'soon'](encodeEvent(event)),
    recipeNamed,
    openStore,
    settled: releaseGarbage,
    quit: () => process.exit(EXIT_CODE.ok),
  },
  monotonicOrigin(),
);

/** Says why, if anybody still listens, and ends. */
function fail(error: unknown): never {
  const code = error instanceof HarnessError ? error.code : 'internal';
  const detail =
    error instanceof HarnessError
      ? [error.message, error.detail, error.remedy].filter(Boolean).join(': ')
      : undefined;
  try {
    answer({
      t: 'failed',
      code,
      error: detail ?? (error instanceof Error ? (error.stack ?? error.message) : String(error)),
    });
  } catch {
    // The harness is gone.
  }
  process.exit(EXIT_CODE[code]);
}

process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
process.on('exit', () => {
  try {
    lines.flush();
  } catch {
    // The harness is gone.
  }
});
process.on('SIGTERM', () => process.exit(EXIT_CODE.terminated));

createInterface({ input: process.stdin, crlfDelay: Infinity })
  .on('line', (line) => {
    obey(decodeToClient(line)).catch(fail);
  })
  .on('close', () => process.exit(EXIT_CODE.ok));
