// The program inside a client container, bundled into one file by `bundle.ts`: commands of the coordinator come in on
// stdin, history events and answers go out on stdout, one JSON value a line (`contract/control.ts`). It is PID 1 there,
// so it can be stopped and killed alone, and must end itself: on SIGTERM, and when stdin ends (the harness is gone).

import { createInterface } from 'node:readline';
import { backends } from '../backends/index.ts';
import { monotonicClock, monotonicOrigin, wallTime, type Clock } from '../clock.ts';
import { decodeToClient, type ClientConfig, type FromClient, type ToClient } from '../contract/control.ts';
import { EXIT_CODE, HarnessError } from '../contract/errors.ts';
import type { LockClient, Recipe } from '../contract/lock-client.ts';
import type { StoreClient } from '../contract/store.ts';
import type { Workload } from '../contract/workload.ts';
import { encodeEvent } from '../history/json-lines.ts';
import { openStore } from '../postgres-store/client.ts';
import { defences as storeDefences } from '../postgres-store/defences.ts';
import { workloads } from '../../workloads/index.ts';
import { openAdapter } from './adapter-client.ts';
import { adapters } from './adapters.ts';
import { readAll, tryEach, type Registers } from './final-phase.ts';
import { openLineWriter } from './line-writer.ts';
import { releaseGarbage } from './memory.ts';
import { openRecorder, type Recorder } from './recorder.ts';
import { withRegister } from './with-register.ts';
import { openSession, runSessions, type ClientSession } from './session.ts';

const STDOUT = 1;
const lines = openLineWriter(STDOUT);
const RELATIVE_DEFENCES: ReadonlySet<string> = new Set(
  storeDefences.filter(({ relative }) => relative === true).map(({ name }) => name),
);

/** A process that has been set up. */
interface Ready {
  readonly locks: LockClient;
  readonly store: StoreClient;
  readonly recorder: Recorder;
  readonly session: ClientSession;
  readonly workload: Workload;
  readonly registers: Registers;
}

let clock: Clock = monotonicClock(monotonicOrigin());
let ready: Ready | undefined;
let running: Promise<void> = Promise.resolve();
let stopping = false;

function answer(message: FromClient): void {
  lines.now(JSON.stringify(message));
}

async function setUp(config: ClientConfig): Promise<Ready> {
  const recipe = recipeNamed(config);
  const commandTimeLimit = config.commandTimeLimitMillis;
  const { process: name, servers, defences, locks: keys } = config;
  const own = recipe.register?.name;
  const registers = {
    outside: defences.filter((defence) => defence !== own),
    beside: defences.filter((defence) => defence === own),
    keys,
  };
  const workload = named(workloads, config.workload);
  const outside = await openStore(
    { ...config.store, commandTimeLimit },
    { defences: registers.outside, keys, initialValue: workload.stock ?? '0' },
  );
  await recipe.load?.();
  const locks = recipe.open({
    process: name,
    servers,
    commandTimeLimit,
    now: () => clock.now(),
    onLost: (request, reason) => session.lost(request, reason),
  });
  const store =
    own === undefined || locks.register === undefined
      ? outside
      : withRegister(outside, { defence: own, register: locks.register });
  const recorder = openRecorder({
    process: name,
    firstId: config.firstId,
    idStep: config.idStep,
    ttlMillis: config.ttlMillis,
    polls: recipe.polls,
    sessionBound: recipe.sessionBound === true,
    relative: RELATIVE_DEFENCES,
    locks,
    store,
    now: () => clock.now(),
    write: (event) => lines[event.type === 'invoke' ? 'now' : 'soon'](encodeEvent(event)),
  });
  const session = openSession({ config, recipe, recorder, clock, stopping: () => stopping });
  return { locks, store, recorder, session, workload, registers };
}

/** One of ours, or the user's, held to the contract. */
function recipeNamed({ backend, recipe }: ClientConfig): Recipe {
  const own = adapters.find(({ name }) => name === recipe);
  if (own === undefined) return named(named(backends, backend).recipes, recipe);
  return { ...own, open: (context) => openAdapter(own, context) };
}

async function obey(command: ToClient): Promise<void> {
  switch (command.t) {
    case 'hello':
      clock = monotonicClock(BigInt(command.origin));
      return answer({
        t: 'hello',
        round: command.round,
        time: clock.now(),
        wallMillis: wallTime().getTime(),
      });
    case 'setup':
      ready = await setUp(command.config);
      releaseGarbage();
      return answer({ t: 'ready' });
    case 'start': {
      const { workload, session } = isSetUp();
      stopping = false;
      running = runSessions(workload, session);
      return running;
    }
    case 'stop':
      stopping = true;
      await running;
      return answer({ t: 'stopped' });
    case 'try-each':
      await tryEach(isSetUp().session, clock, command.locks, command.timeLimitMillis);
      return answer({ t: 'tried' });
    case 'read-all': {
      const { recorder, store, registers } = isSetUp();
      const problem = await readAll(recorder, store, registers);
      if (problem !== undefined) throw new HarnessError('environment', problem);
      return answer({ t: 'read' });
    }
    case 'quit':
      await ready?.locks[Symbol.asyncDispose]();
      await ready?.store[Symbol.asyncDispose]();
      return process.exit(EXIT_CODE.ok);
    default:
      command satisfies never;
  }
}

function isSetUp(): Ready {
  if (ready === undefined) throw new Error('told to work before setup');
  return ready;
}

function named<T extends { readonly name: string }>(list: readonly T[], name: string): T {
  const found = list.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`this client knows no ${name}`);
  return found;
}

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
