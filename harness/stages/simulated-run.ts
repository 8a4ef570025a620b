// One plan, simulated and judged, of which nothing is kept: for whoever asks many questions and needs only the answers.

import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cellOf } from '../plan/catalogue.ts';
import type { Plan } from '../plan/plan.ts';
import { run, type Interrupt } from '../run.ts';
import { judgeFile, type Judgement } from '../stored/judgement.ts';
import { createRunDirectory } from '../stored/results.ts';
import { onSimulation } from './on-simulation.ts';

const silent = { phase: () => undefined, event: () => undefined };
const never: Interrupt = { wrapUp: new AbortController().signal, abandon: new AbortController().signal };

export interface SimulatedRun extends Judgement {
  /** Of history.jsonl, SHA-256. */
  readonly hash: string;
}

/** Throws HarnessError if the plan cannot be simulated, and the reason of an interrupt. */
export async function simulate(plan: Plan, interrupt: Interrupt = never): Promise<SimulatedRun> {
  const scratch = mkdtempSync(join(tmpdir(), 'lockpick-simulation-'));
  try {
    const { parts, during } = await onSimulation().partsFor(plan);
    const directory = createRunDirectory(scratch, plan);
    await during(() => run(plan, parts, directory, silent, interrupt));
    // One that was ended early says nothing.
    interrupt.wrapUp.throwIfAborted();
    const hash = createHash('sha256').update(readFileSync(directory.history)).digest('hex');
    return { ...judgeFile(directory.history, cellOf(plan)?.expected ?? null), hash };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
