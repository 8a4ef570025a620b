// A client container, simulated: the real client program (`client/program.ts`) on a simulated process, with simulated
// connections to lock service and store. A promise that rejects ends it as it would end the real process.

import { clientProgram, named } from '../client/program.ts';
import { decodeToClient, type FromClient } from '../contract/control.ts';
import { EXIT_CODE, HarnessError } from '../contract/errors.ts';
import type { Recipe } from '../contract/lock-client.ts';
import { openStore } from '../postgres-store/client.ts';
import { simulatedSessions } from './postgres/session.ts';
import type { Machine, Program } from './program.ts';

/** `recipesOf`: those of the lock service, on connections of that machine. */
export function clientOf(recipesOf: (machine: Machine) => readonly Recipe[]): Program {
  return (machine) => {
    const { process, output } = machine;
    const answer = (message: FromClient): void => output.print(JSON.stringify(message));
    const sessions = simulatedSessions(machine);
    const recipes = recipesOf(machine);
    const obey = clientProgram(
      {
        clock: (origin) => process.clock(Number(origin)),
        wallMillis: () => process.wallMillis(),
        answer,
        record: output.record,
        // What loads a real driver has nothing to load here.
        recipeNamed: ({ recipe }) => withoutDriver(named(recipes, recipe)),
        openStore: (address, contents) => openStore(address, contents, sessions),
        settled: () => undefined,
        quit: () => process.end(EXIT_CODE.ok),
      },
      0n,
    );
    output.onInput((line) => {
      obey(decodeToClient(line)).catch((error: unknown) => {
        const code = error instanceof HarnessError ? error.code : 'internal';
        answer({ t: 'failed', code, error: error instanceof Error ? String(error.stack) : String(error) });
        process.end(EXIT_CODE[code]);
      });
    });
  };
}

function withoutDriver(recipe: Recipe): Recipe {
  return { ...recipe, load: () => Promise.resolve() };
}
