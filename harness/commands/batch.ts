// Plans → runs, one after another; each is recorded, judged and reported, and when all are over, all of them together:
// one summary, one page, one exit code. `run` and `compare` end here, and so does `merge`, which only has the second half.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EXPORTED_REPORTS, type Keep, type ReportName } from '../plan/choices.ts';
import { cellName } from '../plan/cell-name.ts';
import {
  unitsOf,
  writeComparison,
  type Comparison,
  type DoneRun,
  type Unit,
} from '../comparison/comparison.ts';
import { breakingFaults } from '../comparison/breaking-faults.ts';
import { shardOf, type Shard } from '../comparison/shard.ts';
import { summarise, summaryText, WORST_FIRST, type Summary } from '../comparison/summary.ts';
import { pastRunOf, trendsOf, type Trend } from '../comparison/trends.ts';
import { EXIT_CODE, HarnessError, messageOf } from '../contract/errors.ts';
import { aloud, type Aloud } from '../terminal/aloud.ts';
import { countsByCode, finalWords } from '../terminal/final-words.ts';
import { listenForInterrupt, type InterruptListener } from '../terminal/interrupt.ts';
import { LOCKPICK, shellWord } from '../terminal/invocation.ts';
import { exitCodeOf } from '../judge.ts';
import type { Plan } from '../plan/plan.ts';
import type { JudgedRun } from '../report/judged-run.ts';
import { renderReport } from '../report/report.ts';
import { tellGitHub } from '../reporters/github.ts';
import { junitXml } from '../reporters/junit.ts';
import { headline, summaryMarkdown } from '../reporters/markdown.ts';
import { writeRunFiles } from '../reporters/run-files.ts';
import {
  appendTrend,
  createRunDirectory,
  dropEvidence,
  hasEvidence,
  markLatest,
  readTrends,
  writeAtomically,
  writeFile,
} from '../stored/results.ts';
import { run, type Interrupt, type RunObserver } from '../run.ts';
import {
  judgeRun,
  replayCommand,
  replayFrom,
  reportedRun,
  storedPlanText,
  type StoredRun,
} from '../stored/stored-run.ts';
import { stages, type Stage } from '../stages/stage.ts';
import { worstExitCode } from './exit-code.ts';

/** One page for all runs has each run's whole timeline: more than this many make no page that opens quickly. */
const RUNS_ON_A_PAGE = 20;

export interface BatchOptions {
  readonly out: string;
  readonly reports: ReadonlySet<ReportName>;
  readonly keep: Keep;
  readonly shard: Shard;
  /** Runs of these plans that `out` has are taken as they are. */
  readonly resume: boolean;
  /** stdout: a line for each run, or one object for all. */
  readonly json: 'each' | 'all' | 'none';
  readonly quiet: boolean;
}

/** Returns the exit code. Throws HarnessError if our surroundings fail; what was done until then is summarised. */
export async function runBatch(comparison: Comparison, options: BatchOptions): Promise<number> {
  const { out, shard, resume, json } = options;
  const plans = shardOf(comparison.plans, shard);
  const units = resume ? unitsOf(plans, [out]) : plans.map((plan): Unit => ({ plan, run: undefined }));
  const told = aloud(options);
  if (comparison.plans.length > 1) writeComparison(out, comparison);

  using interrupt = listenForInterrupt();
  let failure: unknown;
  try {
    await runMissing(units, interrupt, { ...options, told });
  } catch (error) {
    // An interrupted start or a second Ctrl-C: the containers are gone, what was recorded stays, nothing is judged.
    if (interrupt.exitCode === undefined) failure = error;
    else process.stderr.write(`lockpick: ${messageOf(error)}\n`);
  }
  concludeAfter(failure, () => {
    const summary = summarise(comparison, units);
    if (comparison.plans.length > 1 && units.some(({ run: done }) => done !== undefined))
      writeTogether(summary, units, { ...options, say: told.say });
    if (json === 'all') process.stdout.write(summaryText(summary));
    tellGitHub(summary, process.env);
  });
  return interrupt.exitCode ?? exitCodeOfUnits(units);
}

/**
 * Concludes, and throws the `failure` from before, if there was one. What goes wrong in a conclusion may only follow from
 * it (a full disk, a half-made run), so it is told beside it and never in its place.
 */
export function concludeAfter(failure: unknown, conclude: () => void): void {
  try {
    conclude();
  } catch (error) {
    if (failure === undefined) throw error;
    process.stderr.write(`lockpick: no summary of what was done until then: ${messageOf(error)}\n`);
  }
  if (failure !== undefined) throw failure;
}

/** Runs what is not done, one after another, and puts it into `units`; stops early after a signal. */
async function runMissing(
  units: Unit[],
  interrupt: InterruptListener,
  options: BatchOptions & { readonly told: Aloud },
): Promise<void> {
  const { say, watch } = options.told;
  const missing = [...units.entries()].filter(([, { run: done }]) => done === undefined);
  if (missing.length < units.length)
    say(`${units.length - missing.length} of ${units.length} runs are done already`);
  if (missing.length === 0) return;
  const stage = stages(say);
  for (const [nth, [position, { plan }]] of missing.entries()) {
    const count = missing.length > 1 ? `[${nth + 1}/${missing.length}] ` : '';
    let judged: StoredRun;
    {
      using progress = watch(`${count}${cellName(plan)}`, plan.timeLimitMillis);
      judged = await runPlan(stage, plan, { ...options, say, observer: progress, interrupt });
    }
    process.stdout.write(resultText(judged, options.json));
    if (interrupt.signal !== undefined) return;
    // Without its history: those of a long comparison would fill the memory.
    const { directory, surroundings, verdict } = judged;
    units[position] = { plan, run: { directory, plan, surroundings, verdict } };
  }
}

/** What goes to stdout after each run. */
function resultText(judged: StoredRun, json: BatchOptions['json']): string {
  const { directory, plan, verdict } = judged;
  switch (json) {
    case 'each':
      return `${JSON.stringify({ ...verdict, run: directory.path, plan })}\n`;
    case 'all':
      return '';
    case 'none':
      return finalWords({
        ...judged,
        replayCommand: replayCommand(plan, directory),
        oftenCommand: `${replayFrom(directory)} --times 20`,
        stream: process.stdout,
      });
  }
}

/** A violation is never masked; where a run is missing the rest is inconclusive. */
export function exitCodeOfUnits(units: readonly Unit[]): number {
  return worstExitCode(
    units.map(({ run: done }) => (done === undefined ? EXIT_CODE.inconclusive : exitCodeOf(done.verdict))),
  );
}

/** The files that are about all runs of a command: summary.json, summary.md, junit.xml, report.html in `out`. */
export function writeTogether(
  summary: Summary,
  units: readonly Unit[],
  { out, reports, say }: Pick<BatchOptions, 'out' | 'reports'> & Pick<Aloud, 'say'>,
): void {
  const file = (name: string): string => join(out, name);
  if (reports.has('json')) writeFile(file('summary.json'), summaryText(summary));
  if (reports.has('markdown')) writeFile(file('summary.md'), summaryMarkdown(summary, { links: 'relative' }));
  if (reports.has('junit')) writeFile(file('junit.xml'), junitXml(units));
  say(`${headline(summary)}${reports.has('markdown') ? `: ${file('summary.md')}` : ''}`);
  const trends = trendsIn([out], new Set(units.flatMap(({ run: done }) => done?.directory.name ?? [])));
  for (const { cell, worse } of trends)
    for (const words of worse) say(`worse than before: ${cell}: ${words}`);
  if (!reports.has('html')) return;
  const done = worstFirst(units);
  const shown = done
    .filter(({ directory }) => hasEvidence(directory))
    .slice(0, RUNS_ON_A_PAGE)
    .flatMap((each) => shownAgain(each, say));
  if (shown.length === 0) return;
  const names = new Set(shown.map(({ name }) => name));
  const others = done
    .map(({ directory: { name }, plan, verdict }) => ({ name, plan, verdict }))
    .filter(({ name }) => !names.has(name));
  writeFile(file('report.html'), renderReport(shown, { others, trends }));
  const which = shown.length === units.length ? `all ${shown.length}` : `the ${shown.length} most telling`;
  say(`one page for ${which} runs: ${file('report.html')}`);
}

/** Of the runs of these names, against those that the directories have run before. */
export function trendsIn(outs: readonly string[], now: ReadonlySet<string>): readonly Trend[] {
  const past = outs.flatMap((out) => readTrends(out).flatMap(([, line]) => pastRunOf(line) ?? []));
  return trendsOf(past, now);
}

/** None if it cannot be read any more: a run of another version counts, by its verdict, and is not shown. */
function shownAgain({ directory }: DoneRun, say: Aloud['say']): readonly JudgedRun[] {
  try {
    return [reportedRun(judgeRun(directory))];
  } catch (error) {
    if (!(error instanceof HarnessError)) throw error;
    say(`not on the page: ${error.message}`);
    return [];
  }
}

/** Those that are not as expected before the others, and of each kind one of each cell before the second of any. */
function worstFirst(units: readonly Unit[]): readonly DoneRun[] {
  const seen = new Map<string, number>();
  return units
    .flatMap(({ plan, run: done }) => {
      if (done === undefined) return [];
      const nth = seen.get(cellName(plan)) ?? 0;
      seen.set(cellName(plan), nth + 1);
      return [{ done, nth, rank: WORST_FIRST.indexOf(done.verdict.outcome) }];
    })
    .toSorted((a, b) => a.rank - b.rank || a.nth - b.nth)
    .map(({ done }) => done);
}

export interface RunPlanOptions {
  readonly out: string;
  readonly observer: RunObserver;
  readonly interrupt: Interrupt & { readonly signal?: NodeJS.Signals | undefined };
  /** Of a run that failed: what is left of it. */
  readonly say?: Aloud['say'];
  /** Default: all. */
  readonly reports?: ReadonlySet<ReportName>;
  /** Default: `always`. */
  readonly keep?: Keep;
}

/** One run from plan to verdict, everything on disk. Throws HarnessError if our surroundings failed. */
export async function runPlan(stage: Stage, plan: Plan, options: RunPlanOptions): Promise<StoredRun> {
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
    throw error;
  }
  const judged = judgeRun(directory);
  writeRunFiles(judged, reports);
  if (keep === 'never' || (keep === 'on-failure' && judged.verdict.asExpected)) dropEvidence(directory);
  // Last, because its presence means that the run is done. One that a signal ended early is judged, and not done.
  const stored = { ...judged.verdict, ...(interrupt.signal !== undefined && { interrupted: true }) };
  writeAtomically(directory.verdict, `${JSON.stringify(stored, null, 2)}\n`);
  markLatest(out, directory);
  appendTrend(out, trendOf(judged));
  return judged;
}

/** A line of results/history.jsonl. */
function trendOf({ directory, plan, surroundings, verdict }: StoredRun): object {
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
