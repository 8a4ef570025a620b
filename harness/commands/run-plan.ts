// One plan → one run: recorded, judged and reported, everything on disk. `run`, `compare`, `replay` and the threads of a
// simulation all end here.

import { existsSync } from 'node:fs';
import { breakingFaults } from '../comparison/breaking-faults.ts';
import type { DoneRun } from '../comparison/comparison.ts';
import { HarnessError } from '../contract/errors.ts';
import { JournalError } from '../history/journal.ts';
import { EXPORTED_REPORTS, type Keep, type ReportName } from '../plan/choices.ts';
import { cellName } from '../plan/cell-name.ts';
import type { Plan } from '../plan/plan.ts';
import { writeRunFiles } from '../reporters/run-files.ts';
import { run, type Interrupt, type RunObserver } from '../run.ts';
import type { Stage } from '../stages/stage.ts';
import {
  appendTrend,
  createRunDirectory,
  dropEvidence,
  markLatest,
  ROOM_TO_WRITE,
  writeAtomically,
  writeFile,
} from '../stored/results.ts';
import { judgeRun, storedPlanText, type StoredRun } from '../stored/stored-run.ts';
import { countsByCode } from '../terminal/final-words.ts';
import { LOCKPICK, shellWord } from '../terminal/invocation.ts';

export interface RunPlanOptions {
  readonly out: string;
  readonly observer: RunObserver;
  readonly interrupt: Interrupt & { readonly signal?: NodeJS.Signals | undefined };
  /** Of a run that failed: what is left of it. */
  readonly say?: (line: string) => void;
  /** Default: all. */
  readonly reports?: ReadonlySet<ReportName>;
  /** Default: `always`. */
  readonly keep?: Keep;
}

/** One run from plan to verdict, and to its place in the results. Throws HarnessError if our surroundings failed. */
export async function runPlan(stage: Stage, plan: Plan, options: RunPlanOptions): Promise<StoredRun> {
  const judged = await recordRun(stage, plan, options);
  enterRun(options.out, judged);
  return judged;
}

/** The same without what concerns the other runs in `out`, so that several may do it at once. */
export async function recordRun(stage: Stage, plan: Plan, options: RunPlanOptions): Promise<StoredRun> {
  const { out, observer, interrupt, reports = new Set(EXPORTED_REPORTS), keep = 'always' } = options;
  const { say = () => undefined } = options;
  const { parts, surroundings, during } = await stage.partsFor(plan);
  const directory = createRunDirectory(out, plan);
  writeFile(directory.plan, storedPlanText(plan, surroundings));
  try {
    await during(() => run(plan, parts, directory, observer, interrupt));
  } catch (error) {
    if (existsSync(directory.history))
      say(`what was recorded until then can be judged: ${LOCKPICK} check ${shellWord(directory.path)}`);
    throw ofSurroundings(error);
  }
  const judged = judgeRun(directory);
  writeRunFiles(judged, reports);
  if (keep === 'never' || (keep === 'on-failure' && judged.verdict.asExpected)) dropEvidence(directory);
  // Last, because its presence means that the run is done. One that a signal ended early is judged, and not done.
  const stored = { ...judged.verdict, ...(interrupt.signal !== undefined && { interrupted: true }) };
  writeAtomically(directory.verdict, `${JSON.stringify(stored, null, 2)}\n`);
  return judged;
}

/** A disk that is full is no bug of ours. */
function ofSurroundings(error: unknown): unknown {
  if (error instanceof SuppressedError)
    return new SuppressedError(error.error, ofSurroundings(error.suppressed));
  if (!(error instanceof JournalError)) return error;
  return new HarnessError('environment', error.message, { remedy: ROOM_TO_WRITE });
}

/** Makes it the latest run in `out`, and a line of the trends. */
export function enterRun(out: string, done: DoneRun): void {
  markLatest(out, done.directory);
  appendTrend(out, trendOf(done));
}

/** A line of results/history.jsonl. */
function trendOf({ directory, plan, surroundings, verdict }: DoneRun): object {
  const breaking = breakingFaults([verdict]);
  return {
    run: directory.name,
    started: surroundings.started,
    cell: cellName(plan),
    simulated: plan.on === 'simulation',
    seed: plan.seed,
    verdict: verdict.verdict,
    grade: verdict.grade,
    asExpected: verdict.asExpected,
    faults: { acted: breaking.trials, broke: breaking.hits },
    findings: countsByCode([...verdict.findings, ...verdict.liveness]),
  };
}
