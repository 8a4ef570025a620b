// Where runs take place: in containers, or simulated. A stage turns a plan into the parts of a run; what a whole command
// shares, such as the engine, is found when the first plan needs it.

import manifest from '../../package.json' with { type: 'json' };
import { cpus, release, totalmem, version } from 'node:os';
import { wallTime } from '../clock.ts';
import type { Plan } from '../plan/plan.ts';
import type { RunParts } from '../run.ts';
import type { Surroundings } from '../stored/stored-run.ts';

export interface Stage {
  /** The parts of one run. Throws HarnessError if something that it needs is missing and cannot be had. */
  partsFor(plan: Plan): Promise<StagedRun>;
}

export interface StagedRun {
  readonly parts: RunParts;
  readonly surroundings: Surroundings;
  /** Runs `main` where the parts are at home. */
  readonly during: <T>(main: () => Promise<T>) => Promise<T>;
}

/** Opens each stage when it is first needed. `say` gets a line whenever something takes a while. */
export function stages(say: (line: string) => void): Stage {
  let docker: Promise<Stage> | undefined;
  const opened = async ({ on }: Plan): Promise<Stage> => {
    if (on === 'simulation') return (await import('./on-simulation.ts')).onSimulation();
    docker ??= import('./on-docker.ts').then(({ onDocker }) => onDocker(say));
    return docker;
  };
  return { partsFor: async (plan) => (await opened(plan)).partsFor(plan) };
}

/** This machine and this program. `engine`: what runs the nodes. */
export function surroundingsOf(engine: string, images: Surroundings['images']): Surroundings {
  return {
    started: wallTime().toISOString(),
    versions: { lockpick: manifest.version, node: process.version },
    images,
    host: {
      cpus: cpus().length,
      memoryBytes: totalmem(),
      kernel: `${release()} ${version()}`,
      engine,
    },
  };
}
