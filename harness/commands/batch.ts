// Plans → runs, one after another or, simulated, as many at once as there are processors; each is recorded, judged and
// reported, and when all are over, all of them together: one summary, one page, one exit code. `run` and `compare` end
// here, and so does `merge`, which only has the second half.

import { availableParallelism } from 'node:os';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Keep, ReportName } from '../plan/choices.ts';
import { cellName } from '../plan/cell-name.ts';
import {
  unitsOf,
  writeComparison,
  type Comparison,
  type DoneRun,
  type Unit,
} from '../comparison/comparison.ts';
import { shardOf, type Shard } from '../comparison/shard.ts';
import { summarise, summaryText, type Summary } from '../comparison/summary.ts';
import { pastRunOf, trendsOf, type Trend } from '../comparison/trends.ts';
import { EXIT_CODE, messageOf } from '../contract/errors.ts';
import { aloud, type Aloud } from '../terminal/aloud.ts';
import { finalWords } from '../terminal/final-words.ts';
import { listenForInterrupt, type InterruptListener } from '../terminal/interrupt.ts';
import { exitCodeOf } from '../judge.ts';
import { cellOf } from '../plan/catalogue.ts';
import type { Plan } from '../plan/plan.ts';
import { failingSeeds } from '../reporters/failing-seeds.ts';
import { tellGitHub } from '../reporters/github.ts';
import { junitXml } from '../reporters/junit.ts';
import { headline, summaryMarkdown } from '../reporters/markdown.ts';
import { hasEvidence, readTrends, requireWritable, writeFile } from '../stored/results.ts';
import { closerLook, replayCommand } from '../stored/stored-run.ts';
import { stages } from '../stages/stage.ts';
import { worstExitCode } from './exit-code.ts';
import { pageTogether } from './page-together.ts';
import { enterRun, runPlan } from './run-plan.ts';
import type { SimulatedRunsOptions } from './simulated-runs.ts';

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
  // One cell with one seed, of `run`, is complete in its own directory.
  const together = comparison.profile !== null || comparison.plans.length > 1;
  if (together) writeComparison(out, comparison);

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
    if (together && units.some(({ run: done }) => done !== undefined))
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

/** Runs what is not done and puts it into `units`; stops early after a signal. */
async function runMissing(
  units: Unit[],
  interrupt: InterruptListener,
  options: BatchOptions & { readonly told: Aloud },
): Promise<void> {
  const { say } = options.told;
  const missing = [...units.entries()].filter(([, { run: done }]) => done === undefined);
  if (missing.length < units.length)
    say(`${units.length - missing.length} of ${units.length} runs are done already`);
  if (missing.length === 0) return;
  // Told once, and not by every thread.
  requireWritable(options.out);
  const plans = missing.map(([, { plan }]) => plan);
  const threads = plans.every(({ on }) => on === 'simulation') ? availableParallelism() : 1;
  const run = Math.min(threads, plans.length) > 1 ? runInThreads : runOneByOne;
  await run(plans, {
    ...options,
    threads,
    interrupt,
    onDone: (nth, { run: done, isWhole }) => {
      process.stdout.write(resultText(done, options.json));
      const [position] = missing[nth] ?? [];
      // Ended early by a signal, it is judged and not done.
      if (position !== undefined && isWhole) units[position] = { plan: done.plan, run: done };
    },
  });
}

type RunAll = (
  plans: readonly Plan[],
  options: SimulatedRunsOptions & { readonly told: Aloud },
) => Promise<void>;

const runInThreads: RunAll = async (plans, { told, ...options }) => {
  const { runSimulated } = await import('./simulated-runs.ts');
  using counted = told.count(plans.length);
  await runSimulated(plans, {
    ...options,
    onDone: (nth, outcome) => {
      enterRun(options.out, outcome.run);
      counted.next(cellName(outcome.run.plan));
      options.onDone(nth, outcome);
    },
  });
};

const runOneByOne: RunAll = async (plans, { told, onDone, ...options }) => {
  const { interrupt } = options;
  const stage = stages(told.say);
  for (const [nth, plan] of plans.entries()) {
    const count = plans.length > 1 ? `[${nth + 1}/${plans.length}] ` : '';
    let judged: DoneRun;
    {
      using progress = told.watch(`${count}${cellName(plan)}`, plan.timeLimitMillis);
      judged = await runPlan(stage, plan, { ...options, say: told.say, observer: progress });
    }
    // Without its history: those of a long comparison would fill the memory.
    const { directory, surroundings, verdict } = judged;
    const isWhole = interrupt.signal === undefined;
    onDone(nth, { run: { directory, plan, surroundings, verdict }, isWhole });
    if (!isWhole) return;
  }
};

/** What goes to stdout after each run. */
function resultText(judged: DoneRun, json: BatchOptions['json']): string {
  const { directory, plan, verdict } = judged;
  switch (json) {
    case 'each':
      return `${JSON.stringify({ ...verdict, run: directory.path, plan })}\n`;
    case 'all':
      return '';
    case 'none':
      return finalWords({
        ...judged,
        cell: cellOf(plan),
        replayCommand: replayCommand(plan, directory),
        report: existsSync(directory.report) ? directory.report : undefined,
        closer: hasEvidence(directory) ? closerLook(plan, directory) : undefined,
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
  writeFile(file('failing-seeds.txt'), failingSeeds(summary));
  if (reports.has('markdown')) writeFile(file('summary.md'), summaryMarkdown(summary, { links: 'relative' }));
  if (reports.has('junit')) writeFile(file('junit.xml'), junitXml(units));
  say(`${headline(summary)}${reports.has('markdown') ? `: ${file('summary.md')}` : ''}`);
  const trends = trendsIn([out], new Set(units.flatMap(({ run: done }) => done?.directory.name ?? [])));
  for (const { cell, worse } of trends)
    for (const words of worse) say(`worse than before: ${cell}: ${words}`);
  if (!reports.has('html')) return;
  const page = pageTogether(units, { links: true, trends, say });
  if (page === undefined) return;
  writeFile(file('report.html'), page.text);
  say(`one page for ${page.which} runs: ${file('report.html')}`);
}

/** Of the runs of these names, against those that the directories have run before. */
export function trendsIn(outs: readonly string[], now: ReadonlySet<string>): readonly Trend[] {
  const past = outs.flatMap((out) => readTrends(out).flatMap(([, line]) => pastRunOf(line) ?? []));
  return trendsOf(past, now);
}
