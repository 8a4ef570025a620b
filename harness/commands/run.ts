// `lockpick run`: cells × seeds → runs, one after another; each is recorded, judged, reported. The wiring of one run to
// real containers is `onDocker`; the words at the end are `../final-words.ts`.

import { join } from 'node:path';
import { HarnessError, messageOf } from '../contract/errors.ts';
import { countsByCode, finalWords } from '../final-words.ts';
import { listenForInterrupt } from '../interrupt.ts';
import { onDocker, type DockerStage } from '../on-docker.ts';
import { cellName } from '../cell-name.ts';
import { parsePlan, type Plan, type PlanInput } from '../plan.ts';
import { planFields } from '../plan-flags.ts';
import { showProgress } from '../progress.ts';
import { appendTrend, createRunDirectory, markLatest, writeAtomically, writeFile } from '../results.ts';
import { freshSeed } from '../rng.ts';
import { run, type Interrupt, type RunObserver } from '../run.ts';
import { judgeRun, replayCommand, storedPlanText, type StoredRun } from '../stored-run.ts';
import { vocabulary } from '../vocabulary.ts';
import { planLayers } from './cells.ts';
import { worstExitCode } from './exit-code.ts';
import { writeReport } from './report.ts';

/** What runs if nothing is named. */
const DEFAULT_BACKEND = 'redis-single';

const SEEDS_MAX = 10_000;

export interface RunFlags extends Readonly<Record<string, unknown>> {
  readonly seeds?: string;
  readonly image?: readonly string[];
  readonly out?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly color?: boolean;
}

/** The plans that the arguments stand for. Throws HarnessError('usage'). */
export function plansOf(patterns: readonly string[], flags: RunFlags): readonly Plan[] {
  const { backend, variant, recipe, fault, workload, seed, ...settings } = planFields(flags);
  const named: PlanInput = { backend, variant, recipe, fault, workload };
  const seeds = Number(flags.seeds ?? '1');
  if (!Number.isInteger(seeds) || seeds < 1 || seeds > SEEDS_MAX)
    throw new HarnessError('usage', `--seeds ${flags.seeds}: must be a whole number from 1 to ${SEEDS_MAX}`);
  const first = typeof seed === 'string' ? seed : freshSeed();
  const images = flags.image ?? [];
  const overrides: PlanInput = {
    ...named,
    ...settings,
    ...(images.length > 0 && { images: parseImages(images) }),
  };
  const cells = patterns.length > 0 ? patterns : [typeof backend === 'string' ? backend : DEFAULT_BACKEND];
  return cells
    .flatMap((pattern) => planLayers(pattern, named))
    .flatMap((layer) =>
      Array.from({ length: seeds }, (_, index) =>
        parsePlan(vocabulary, layer, overrides, { seed: seedAt(first, index) }),
      ),
    );
}

/** The `index`-th seed: 42, 43, … for a number, `text`, `text+1`, … for a text. */
function seedAt(first: string, index: number): string {
  if (index === 0) return first;
  return /^\d{1,15}$/.test(first) ? String(Number(first) + index) : `${first}+${index}`;
}

function parseImages(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1 || at === pair.length - 1)
        throw new HarnessError('usage', `--image ${pair}: write name=reference, e.g. redis=redis:8.4`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

export async function runCommand(patterns: readonly string[], flags: RunFlags): Promise<number> {
  if (flags.color === false) process.env['NO_COLOR'] = '1';
  const plans = plansOf(patterns, flags);
  const out = flags.out ?? 'results';
  const say = (line: string): void => {
    if (flags.quiet !== true) process.stderr.write(`${line}\n`);
  };
  using interrupt = listenForInterrupt();
  const stage = await onDocker(say);
  const runs: StoredRun[] = [];
  try {
    for (const [index, plan] of plans.entries()) {
      if (interrupt.signal !== undefined) break;
      const count = plans.length > 1 ? `[${index + 1}/${plans.length}] ` : '';
      const screen = flags.quiet === true ? { write: () => true } : process.stderr;
      let judged: StoredRun;
      {
        using progress = showProgress(screen, `${count}${cellName(plan)}`, plan.timeLimitMillis);
        judged = await runPlan(stage, plan, { out, observer: progress, interrupt });
      }
      runs.push(judged);
      process.stdout.write(
        flags.json === true
          ? `${JSON.stringify({ ...judged.verdict, run: judged.directory.path, plan })}\n`
          : finalWords({ ...judged, replayCommand: replayCommand(plan), stream: process.stdout }),
      );
    }
  } catch (error) {
    // An interrupted start or a second Ctrl-C: the containers are gone, what was recorded stays, nothing is judged.
    if (interrupt.exitCode === undefined) throw error;
    process.stderr.write(`lockpick: ${messageOf(error)}\n`);
  }
  if (runs.length > 1) {
    const page = join(out, 'report.html');
    writeReport(runs, page);
    say(`one page for all ${runs.length} runs: ${page}`);
  }
  return interrupt.exitCode ?? worstExitCode(runs.map(({ exitCode }) => exitCode));
}

/** One run from plan to verdict, everything on disk. Throws HarnessError if our surroundings failed. */
export async function runPlan(
  stage: DockerStage,
  plan: Plan,
  { out, observer, interrupt }: { out: string; observer: RunObserver; interrupt: Interrupt },
): Promise<StoredRun> {
  const { parts, surroundings } = await stage.partsFor(plan);
  const directory = createRunDirectory(out, plan);
  writeFile(directory.plan, storedPlanText(plan, surroundings));
  await run(plan, parts, directory, observer, interrupt);
  const judged = judgeRun(directory);
  writeReport([judged], directory.report);
  // Last, because its presence means that the run is done.
  writeAtomically(directory.verdict, `${JSON.stringify(judged.verdict, null, 2)}\n`);
  markLatest(out, directory);
  appendTrend(out, trendOf(judged));
  return judged;
}

/** A line of results/history.jsonl. */
function trendOf({ directory, plan, surroundings, verdict }: StoredRun): object {
  return {
    run: directory.name,
    started: surroundings.started,
    cell: cellName(plan),
    seed: plan.seed,
    verdict: verdict.verdict,
    grade: verdict.grade,
    asExpected: verdict.asExpected,
    findings: countsByCode([...verdict.findings, ...verdict.liveness]),
  };
}
