// `lockpick shrink`: the smallest simulated run that still shows a finding of a stored one. Each try is the same seed with
// less around it, run and judged again; the last that shows it becomes a run of its own.

import { LIVENESS_CODES, SAFETY_CODES, type Finding, type FindingCode } from '../../checkers/verdict.ts';
import { EXIT_CODE, HarnessError, messageOf } from '../contract/errors.ts';
import type { PlannedSchedule, Step } from '../contract/fault.ts';
import { scheduleAsRecorded } from '../nemesis/recorded-schedule.ts';
import { formatDuration } from '../plan/duration.ts';
import { EXPECTABLE_GRADES, type Plan } from '../plan/plan.ts';
import { stages } from '../stages/stage.ts';
import { simulate } from '../stages/simulated-run.ts';
import type { Interrupt } from '../run.ts';
import { textChoice, type Choices } from '../settings/settings.ts';
import { shrinkPlan, withSchedule } from '../shrinking/shrink-plan.ts';
import { findingOf, located, scheduleIn } from '../stored/located-run.ts';
import { requireWritable } from '../stored/results.ts';
import { reproduces, shownBy, type Shown } from '../stored/reproduction.ts';
import { judgeRun, replayFrom, type StoredRun } from '../stored/stored-run.ts';
import { aloud } from '../terminal/aloud.ts';
import { finalWords } from '../terminal/final-words.ts';
import { listenForInterrupt } from '../terminal/interrupt.ts';
import { LOCKPICK, shellWord } from '../terminal/invocation.ts';
import { runPlan } from './run-plan.ts';

const silent = { phase: () => undefined, event: () => undefined };

/** Shrinks the run, or the run of the finding, that is at `path`. Returns the exit code. */
export async function shrinkCommand(path: string, choices: Choices): Promise<number> {
  const { directory, finding } = located(path);
  const recorded = judgeRun(directory);
  const kept = finding === undefined ? gravest(recorded) : findingOf(recorded, finding);
  if (recorded.plan.on !== 'simulation')
    throw new HarnessError(
      'usage',
      `${directory.path} was recorded in containers, and only simulation repeats`,
      {
        remedy: `${replayFrom(directory)} --times 20 says how often it is found again; add --on simulation and --seeds 50 to its command to look for it there`,
      },
    );
  const out = textChoice(choices, 'out') ?? 'results';
  requireWritable(out);
  const { say } = aloud({ quiet: choices.has('quiet') });

  using interrupt = listenForInterrupt();
  const bench = openBench(interrupt, { grade: recorded.verdict.grade, codes: [kept.code] });
  try {
    const whole = await firstToShow(recorded, bench.shows);
    let size = sizeOf(whole);
    say(`${kept.code}: ${size}`);
    const smallest = await shrinkPlan(whole, {
      shows: bench.shows,
      defences: [...new Set([kept.store ?? 'none', 'none'])],
      onSmaller: (plan) => {
        // Stores are not worth a line.
        if (sizeOf(plan) === size) return;
        size = sizeOf(plan);
        say(`${kept.code}: ${size}`);
      },
    });
    const plan = await withExpectation(recorded, smallest, interrupt);
    const shrunk = await runPlan(stages(say), plan, { out, say, observer: silent, interrupt });
    process.stdout.write(
      choices.has('json')
        ? `${JSON.stringify(resultOf({ recorded, whole, shrunk, code: kept.code, tries: bench.tries }))}\n`
        : wordsOf({ recorded, whole, shrunk, code: kept.code, tries: bench.tries }),
    );
  } catch (error) {
    if (interrupt.exitCode === undefined) throw error;
    process.stderr.write(`lockpick: ${messageOf(error)}\n`);
  }
  return interrupt.exitCode ?? EXIT_CODE.ok;
}

/** Throws HarnessError('usage') if the run has no finding. */
function gravest({ verdict, directory }: StoredRun): Finding {
  const found: readonly Finding[] = [...verdict.findings, ...verdict.liveness];
  const codes: readonly FindingCode[] = [...SAFETY_CODES, ...LIVENESS_CODES];
  const [first] = found.toSorted((a, b) => codes.indexOf(a.code) - codes.indexOf(b.code));
  if (first === undefined)
    throw new HarnessError('usage', `${directory.path} has no finding, so there is nothing to keep`, {
      remedy: `its grade is ${verdict.grade}; other seeds may show something: ${LOCKPICK} run … --on simulation --seeds 50`,
    });
  return first;
}

interface Bench {
  /** Runs the plan and judges it. Throws the reason of an interrupt. */
  readonly shows: (plan: Plan) => Promise<boolean>;
  readonly tries: number;
}

/** Where plans are tried. */
function openBench(interrupt: Interrupt, first: Shown): Bench {
  let tries = 0;
  return {
    get tries() {
      return tries;
    },
    async shows(plan) {
      tries += 1;
      return reproduces(first, shownBy((await simulate(plan, interrupt)).verdict));
    },
  };
}

/** The run with each fault where it happened, or else with the schedule that it was given. */
async function firstToShow(
  { plan, history, directory }: StoredRun,
  shows: (plan: Plan) => Promise<boolean>,
): Promise<Plan> {
  const schedules: readonly (() => PlannedSchedule)[] = [
    () => scheduleAsRecorded(history, plan.timeLimitMillis),
    () => scheduleIn(history, directory),
  ];
  for (const schedule of schedules) {
    const candidate = withSchedule(plan, schedule());
    if (await shows(candidate)) return candidate;
  }
  throw new HarnessError('usage', `${directory.path} does not show it when it is simulated again`, {
    remedy: `another version recorded it (see versions in its plan.json); run its command again: ${replayFrom(directory)}`,
  });
}

/**
 * What is right for a run that was as expected is right for what is left of it, so that its grade is expected of it. Of one
 * that was not, what is left stays a violation.
 */
async function withExpectation({ verdict }: StoredRun, smallest: Plan, interrupt: Interrupt): Promise<Plan> {
  if (verdict.expected === null || !verdict.asExpected) return smallest;
  const { grade } = (await simulate(smallest, interrupt)).verdict;
  const expect = EXPECTABLE_GRADES.find((expectable) => expectable === grade);
  return expect === undefined ? smallest : { ...smallest, expect };
}

interface Result {
  readonly recorded: StoredRun;
  /** What shrinking began with, and what came of it. */
  readonly whole: Plan;
  readonly shrunk: StoredRun;
  readonly code: FindingCode;
  readonly tries: number;
}

function sizeOf(plan: Plan): string {
  const { clients, locks, timeLimitMillis } = plan;
  return `${count(faultsIn(plan), 'fault')}, ${count(clients, 'client')}, ${count(locks, 'lock')}, ${formatDuration(timeLimitMillis)}`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

/** At most so many begin. */
function faultsIn({ schedule }: Plan): number {
  return (schedule?.steps ?? []).reduce((sum, step) => sum + (step.kind === 'when' ? step.limit : 1), 0);
}

function wordsOf({ recorded, whole, shrunk, code, tries }: Result): string {
  const { directory, plan } = shrunk;
  const steps = (plan.schedule?.steps ?? []).map((step) => `  ${stepWords(step)}\n`);
  return (
    `${code} in ${sizeOf(plan)} instead of ${sizeOf(whole)} (${tries} tries) of ${recorded.directory.path}\n${steps.join('')}\n` +
    finalWords({
      ...shrunk,
      report: directory.report,
      replayCommand: replayFrom(directory),
      closer: undefined,
      stream: process.stdout,
    })
  );
}

function stepWords(step: Step): string {
  const { fault, target, durationMillis } = step.spec;
  const whom = target.kind === 'nodes' ? target.names.join(', ') : target.kind;
  const when = step.kind === 'at' ? `at ${formatDuration(step.atMillis)}` : `when ${step.event}`;
  return `${when}: ${fault} ${whom} for ${formatDuration(durationMillis)}`;
}

function sizesOf(plan: Plan): object {
  const { clients, locks, timeLimitMillis } = plan;
  return { faults: faultsIn(plan), clients, locks, timeLimitMillis };
}

function resultOf({ recorded, whole, shrunk, code, tries }: Result): object {
  return {
    schemaVersion: 1,
    run: recorded.directory.path,
    code,
    from: sizesOf(whole),
    to: sizesOf(shrunk.plan),
    tries,
    shrunk: shrunk.directory.path,
    replay: `${LOCKPICK} replay ${shellWord(shrunk.directory.path)}`,
  };
}
