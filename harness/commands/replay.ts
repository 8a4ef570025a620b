// `lockpick replay`: the plan of a stored run again, with the schedule that its journal recorded, and how often the same
// was found (`stored/reproduction.ts` says what that means). Real containers interleave anew each time (I6).

import { LIVENESS_CODES, type FindingCode } from '../../checkers/verdict.ts';
import { cellName } from '../plan/cell-name.ts';
import { exactInterval, intervalText } from '../comparison/interval.ts';
import { EXIT_CODE, messageOf } from '../contract/errors.ts';
import { aloud } from '../terminal/aloud.ts';
import { listenForInterrupt } from '../terminal/interrupt.ts';
import { scheduleAsRecorded } from '../nemesis/recorded-schedule.ts';
import { parsePlan, type Plan } from '../plan/plan.ts';
import { reproduces, shownBy, surprising, type Shown } from '../stored/reproduction.ts';
import { findingOf, located, scheduleIn } from '../stored/located-run.ts';
import type { RunDirectory } from '../stored/results.ts';
import { textChoice, wholeNumber, type Choices } from '../settings/settings.ts';
import { stages } from '../stages/stage.ts';
import { judgeRun, type StoredRun } from '../stored/stored-run.ts';
import { vocabulary } from '../plan/vocabulary.ts';
import { runPlan } from './run-plan.ts';

const TIMES_MAX = 1_000;

/** One run of the replay. */
interface Replayed {
  readonly run: string;
  readonly shown: Shown;
  readonly reproduced: boolean;
}

/** Replays the run, or the run of the finding, that is at `path`. Returns the exit code. */
export async function replayCommand(path: string, choices: Choices): Promise<number> {
  const times = wholeNumber(choices, 'times', { min: 1, max: TIMES_MAX, fallback: 1 });
  const { directory, finding } = located(path);
  const recorded = judgeRun(directory);
  const all = shownBy(recorded.verdict);
  // Only that finding is looked for.
  const first = finding === undefined ? all : { ...all, codes: [findingOf(recorded, finding).code] };
  const plan = parsePlan(vocabulary, recorded.plan, {
    schedule: choices.has('asRecorded')
      ? scheduleAsRecorded(recorded.history, recorded.plan.timeLimitMillis)
      : scheduleIn(recorded.history, directory),
  });
  const { say, watch } = aloud({ quiet: choices.has('quiet') });

  using interrupt = listenForInterrupt();
  const replayed: Replayed[] = [];
  const otherImages = new Set<string>();
  try {
    const stage = stages(say);
    while (replayed.length < times && interrupt.signal === undefined) {
      let judged: StoredRun;
      {
        const title = `[${replayed.length + 1}/${times}] ${cellName(plan)}`;
        using progress = watch(title, plan.timeLimitMillis);
        const out = textChoice(choices, 'out') ?? 'results';
        judged = await runPlan(stage, plan, { out, say, observer: progress, interrupt });
      }
      // Ended early: it says nothing about the schedule.
      if (interrupt.signal !== undefined) break;
      for (const name of differentImages(recorded, judged)) otherImages.add(name);
      const shown = shownBy(judged.verdict);
      replayed.push({ run: judged.directory.path, shown, reproduced: reproduces(first, shown) });
      say(
        `${replayed.length}/${times} ${replayed.at(-1)?.reproduced === true ? 'reproduced' : 'not reproduced'}: ${codesText(shown)}  ${judged.directory.path}`,
      );
    }
  } catch (error) {
    // An interrupted start or a second Ctrl-C: the containers are gone, and this one says nothing.
    if (interrupt.exitCode === undefined) throw error;
    process.stderr.write(`lockpick: ${messageOf(error)}\n`);
  } finally {
    if (replayed.length > 0)
      process.stdout.write(
        choices.has('json')
          ? `${JSON.stringify(resultOf({ directory, plan, first, replayed, otherImages }))}\n`
          : wordsOf({ first, replayed, otherImages }),
      );
  }
  return interrupt.exitCode ?? exitCodeOf({ first, all }, replayed);
}

function differentImages(first: StoredRun, second: StoredRun): readonly string[] {
  return Object.entries(second.surroundings.images)
    .filter(([name, { digest }]) => (first.surroundings.images[name]?.digest ?? digest) !== digest)
    .map(([name]) => name);
}

interface Result {
  readonly first: Shown;
  readonly replayed: readonly Replayed[];
  readonly otherImages: ReadonlySet<string>;
}

function proportionOf({ replayed }: Pick<Result, 'replayed'>): { hits: number; trials: number } {
  return { hits: replayed.filter(({ reproduced }) => reproduced).length, trials: replayed.length };
}

function wordsOf(result: Result): string {
  const { first, otherImages } = result;
  const images = [...otherImages];
  return (
    `reproduced ${intervalText(proportionOf(result))}: ${codesText(first)}\n` +
    (images.length === 0
      ? ''
      : `  ? not the images of the recorded run: ${images.join(', ')}; see its plan.json\n`)
  );
}

function codesText({ codes, grade }: Shown): string {
  return codes.length === 0 ? `${grade}, no finding` : codes.join(', ');
}

function resultOf({
  directory,
  plan,
  ...result
}: Result & { readonly directory: RunDirectory; readonly plan: Plan }): object {
  const proportion = proportionOf(result);
  return {
    schemaVersion: 1,
    run: directory.path,
    seed: plan.seed,
    shown: result.first,
    times: proportion.trials,
    reproduced: proportion.hits,
    interval: exactInterval(proportion),
    otherImages: [...result.otherImages],
    runs: result.replayed.map(({ run, shown, reproduced }) => ({ run, ...shown, reproduced })),
  };
}

/** What the recorded run found is what is expected (2.4): all of it is allowed, what is looked for must be found. */
export function exitCodeOf(
  { first, all }: { readonly first: Shown; readonly all: Shown },
  replayed: readonly Pick<Replayed, 'shown' | 'reproduced'>[],
): number {
  const news = new Set(replayed.flatMap(({ shown }) => surprising(all, shown)));
  const late: ReadonlySet<FindingCode> = new Set(LIVENESS_CODES);
  const reproduced = replayed.some((run) => run.reproduced);
  if ([...news].some((code) => !late.has(code))) return EXIT_CODE.violation;
  if (!reproduced && first.codes.length > 0) return EXIT_CODE.violation;
  if (news.size > 0) return EXIT_CODE.threshold;
  return reproduced ? EXIT_CODE.ok : EXIT_CODE.inconclusive;
}
