// A run that is on disk, judged: reads its plan and history, judges, and knows what the report shows. Used right after a
// run and for any stored one later: a stored run can be judged again by a newer checker.

import { z } from 'zod';
import { cellOf, settingsOf } from '../plan/catalogue.ts';
import type { Cell } from '../plan/cells/cell.ts';
import { HarnessError, sayingWhere } from '../contract/errors.ts';
import { LOCKPICK, shellWord } from '../terminal/invocation.ts';
import { judgeFile, type Judgement } from './judgement.ts';
import { cellName } from '../plan/cell-name.ts';
import { issueField, issueWords } from '../plan/issue-words.ts';
import { parsePlan, type Plan } from '../plan/plan.ts';
import { differingFlags } from '../settings/plan-flags.ts';
import type { JudgedRun } from '../report/judged-run.ts';
import { readLogs, readRunJson, type RunDirectory } from './results.ts';
import { vocabulary } from '../plan/vocabulary.ts';

/** What a stored run says about where it ran. */
const surroundingsSchema = z.object({
  started: z.string(),
  versions: z.record(z.string(), z.string()),
  images: z.record(z.string(), z.object({ reference: z.string(), digest: z.string() })),
  host: z.object({
    cpus: z.number(),
    memoryBytes: z.number(),
    kernel: z.string(),
    engine: z.string(),
  }),
});
export type Surroundings = Readonly<z.output<typeof surroundingsSchema>>;

/** The plan as resolved, and where it ran. Throws HarnessError('usage') that names the file and the field. */
export function readStoredPlan(directory: RunDirectory): { plan: Plan; surroundings: Surroundings } {
  const stored = z.looseObject({ surroundings: surroundingsSchema });
  const parsed = stored.safeParse(readRunJson(directory.plan), { error: issueWords });
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = issueField(issue);
    throw new HarnessError(
      'usage',
      `${directory.plan} is not the plan of a run: ${field === '' ? 'it' : field} ${issue?.message ?? 'is wrong'}`,
    );
  }
  const { surroundings, ...fields } = parsed.data;
  return { plan: sayingWhere(directory.plan, () => parsePlan(vocabulary, fields)), surroundings };
}

/** plan.json. */
export function storedPlanText(plan: Plan, surroundings: Surroundings): string {
  return `${JSON.stringify({ ...plan, surroundings }, null, 2)}\n`;
}

export interface StoredRun extends Judgement {
  readonly directory: RunDirectory;
  readonly plan: Plan;
  readonly surroundings: Surroundings;
  /** The catalogued cell, if the run is of one. */
  readonly cell: Cell | undefined;
}

/** Reads and judges a run. Throws HarnessError('usage') if a file is missing or malformed. */
export function judgeRun(directory: RunDirectory): StoredRun {
  const { plan, surroundings } = readStoredPlan(directory);
  const cell = cellOf(plan);
  return { directory, plan, surroundings, cell, ...judgeFile(directory.history, cell?.expected ?? null) };
}

/**
 * Makes the same run again: the same schedule and the same choices of every client (I6). A schedule of the plan's own
 * is too long for a command line: then it is replayed from where it is stored.
 */
export function replayCommand(plan: Plan, directory?: RunDirectory): string {
  if (plan.schedule !== undefined && directory !== undefined) return replayFrom(directory);
  const { backend, variant, recipe, fault, workload, seed, adapter } = plan;
  const named = { backend, variant, recipe, fault, workload, ...(adapter !== undefined && { adapter }) };
  const base = parsePlan(vocabulary, named, settingsOf(named), {
    seed,
    // Without its schedule, which fits no other time limit.
    ...(plan.schedule !== undefined && { fault: 'none' }),
  });
  const images = Object.entries(plan.images).map(
    ([name, reference]) => `--image ${shellWord(`${name}=${reference}`)}`,
  );
  const own = adapter === undefined ? [] : [`--adapter ${shellWord(adapter)}`];
  const flags = [...own, `--seed ${shellWord(seed)}`, ...differingFlags(plan, base), ...images];
  const scheduled = plan.schedule === undefined ? [] : ['--schedule <file>'];
  return `${LOCKPICK} run ${cellName(plan)} ${[...flags, ...scheduled].join(' ')}`;
}

/** Replays a stored run; `--times 20` added says how often the same is found. */
export function replayFrom({ path }: RunDirectory): string {
  return `${LOCKPICK} replay ${shellWord(path)}`;
}

/**
 * What shows more of a finding: in containers how often it is found again; of a simulated run, which repeats, what is left
 * without all that it does not need.
 */
export function closerLook(
  { on }: Plan,
  directory: RunDirectory,
): { readonly label: string; readonly command: string } {
  return on === 'simulation'
    ? { label: 'shrink', command: `${LOCKPICK} shrink ${shellWord(directory.path)}` }
    : { label: 'often', command: `${replayFrom(directory)} --times 20` };
}

export function reportedRun({ directory, plan, surroundings, cell, history, verdict }: StoredRun): JudgedRun {
  return {
    name: directory.name,
    plan,
    history,
    verdict,
    logs: readLogs(directory),
    provenance: {
      ...surroundings,
      replayCommand: replayCommand(plan, directory),
      ...(cell !== undefined && { expectedBecause: cell.because }),
    },
  };
}
