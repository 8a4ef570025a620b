// What a client process does with the coordinator's commands: sets up, runs sessions, stops, tries every lock, reads the
// store. The surroundings give it time, connections and a way to speak: those of a container (`main.ts`), or simulated
// ones. Must not know which.

import type { Clock } from '../clock.ts';
import type { ClientConfig, FromClient, ToClient } from '../contract/control.ts';
import { HarnessError } from '../contract/errors.ts';
import type { LockClient, Recipe } from '../contract/lock-client.ts';
import type { StoreAddress, StoreClient } from '../contract/store.ts';
import type { Workload } from '../contract/workload.ts';
import type { HistoryEvent } from '../history/op.ts';
import type { StoreContents } from '../postgres-store/client.ts';
import { defences as storeDefences } from '../postgres-store/defences.ts';
import { workloads } from '../../workloads/index.ts';
import { readAll, tryEach, type Registers } from './final-phase.ts';
import { openRecorder, type Recorder } from './recorder.ts';
import { openSession, runSessions, type ClientSession } from './session.ts';
import { withRegister } from './with-register.ts';

/** What a client process stands on. */
export interface ClientSurroundings {
  /** Counts from `origin`, a reading of CLOCK_MONOTONIC. */
  clock(origin: bigint): Clock;
  /** What it takes for the time of day, in milliseconds since 1970. */
  wallMillis(): number;
  answer(message: FromClient): void;
  /** An invocation must be out before it returns (I1). */
  record(event: HistoryEvent): void;
  /** Throws if it does not know it. */
  recipeNamed(config: Pick<ClientConfig, 'backend' | 'recipe'>): Recipe;
  openStore(address: StoreAddress, contents: StoreContents): Promise<StoreClient>;
  /** After everything was loaded and before anything is measured. */
  settled(): void;
  /** Everything is closed: ends the process. */
  quit(): void;
}

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

/** Obeys one command after another; rejects with what makes the process useless. `origin`: until the first hello. */
export function clientProgram(
  surroundings: ClientSurroundings,
  origin: bigint,
): (command: ToClient) => Promise<void> {
  let clock = surroundings.clock(origin);
  let ready: Ready | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopping = false;

  const setUp = async (config: ClientConfig): Promise<Ready> => {
    const recipe = surroundings.recipeNamed(config);
    const commandTimeLimit = config.commandTimeLimitMillis;
    const { process: name, servers, defences, locks: keys } = config;
    const own = recipe.register?.name;
    const registers = {
      outside: defences.filter((defence) => defence !== own),
      beside: defences.filter((defence) => defence === own),
      keys,
    };
    const workload = named(workloads, config.workload);
    const outside = await surroundings.openStore(
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
      ...(config.permits !== undefined && { permits: config.permits }),
      polls: recipe.polls,
      sessionBound: recipe.sessionBound === true,
      relative: RELATIVE_DEFENCES,
      locks,
      store,
      now: () => clock.now(),
      write: (event) => surroundings.record(event),
    });
    const session = openSession({ config, recipe, recorder, clock, stopping: () => stopping });
    return { locks, store, recorder, session, workload, registers };
  };

  const isSetUp = (): Ready => {
    if (ready === undefined) throw new Error('told to work before setup');
    return ready;
  };

  return async (command) => {
    switch (command.t) {
      case 'hello':
        clock = surroundings.clock(BigInt(command.origin));
        return surroundings.answer({
          t: 'hello',
          round: command.round,
          time: clock.now(),
          wallMillis: surroundings.wallMillis(),
        });
      case 'setup':
        ready = await setUp(command.config);
        surroundings.settled();
        return surroundings.answer({ t: 'ready' });
      case 'start': {
        const { workload, session } = isSetUp();
        stopping = false;
        running = runSessions(workload, session);
        return running;
      }
      case 'stop':
        stopping = true;
        await running;
        return surroundings.answer({ t: 'stopped' });
      case 'try-each':
        await tryEach(isSetUp().session, clock, command.locks, command.timeLimitMillis);
        return surroundings.answer({ t: 'tried' });
      case 'read-all': {
        const { recorder, store, registers } = isSetUp();
        const problem = await readAll(recorder, store, clock, registers);
        if (problem !== undefined) throw new HarnessError('environment', problem);
        return surroundings.answer({ t: 'read' });
      }
      case 'quit':
        await ready?.locks[Symbol.asyncDispose]();
        await ready?.store[Symbol.asyncDispose]();
        return surroundings.quit();
      default:
        command satisfies never;
    }
  };
}

export function named<T extends { readonly name: string }>(list: readonly T[], name: string): T {
  const found = list.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`this client knows no ${name}`);
  return found;
}
