// A comparison on disk: `comparison.json` says which plans belong together, the runs beside it are its results. A run
// belongs to it by its plan alone, so it may have been made before an interruption, by an earlier command, or on
// another machine that had another shard.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Verdict } from '../../checkers/verdict.ts';
import { HarnessError, messageOf } from '../contract/errors.ts';
import { parsePlan, type Plan } from '../plan/plan.ts';
import { doneRuns, readRunFile, writeAtomically, type RunDirectory } from '../stored/results.ts';
import { readStoredPlan, type Surroundings } from '../stored/stored-run.ts';
import { vocabulary } from '../plan/vocabulary.ts';

export interface Comparison {
  /** null: cells were named. */
  readonly profile: string | null;
  /** The first one; the others follow from it. */
  readonly seed: string;
  /** Of all shards, in order. */
  readonly plans: readonly Plan[];
}

/** A run that is done, without its history. */
export interface DoneRun {
  readonly directory: RunDirectory;
  readonly plan: Plan;
  readonly surroundings: Surroundings;
  readonly verdict: Verdict;
}

const fileSchema = z.object({
  schemaVersion: z.literal(1),
  profile: z.string().nullable(),
  seed: z.string(),
  plans: z.array(z.record(z.string(), z.unknown())).min(1),
});

/** The part that everything here relies on; a verdict of a later version may say more. */
const verdictSchema = z.looseObject({
  schemaVersion: z.literal(1),
  grade: z.enum(['safe', 'safe-with-fencing', 'unsafe', 'inconclusive']),
  outcome: z.enum(['violation', 'threshold', 'inconclusive', 'ok']),
  asExpected: z.boolean(),
  surprises: z.array(z.string()),
  findings: z.array(
    z.looseObject({ id: z.string(), code: z.string(), story: z.string(), faults: z.array(z.string()) }),
  ),
  liveness: z.array(z.looseObject({ id: z.string(), code: z.string(), story: z.string() })),
  power: z.looseObject({ contendedHandoffs: z.number(), faults: z.looseObject({ acted: z.number() }) }),
});
const storedVerdict = z.custom<Verdict>((value) => verdictSchema.safeParse(value).success);

/** Two comparisons of one identity have the same units in the same order. */
export function identityOf({ plans }: Comparison): string {
  return `sha256:${createHash('sha256').update(JSON.stringify(plans)).digest('hex')}`;
}

function fileOf(out: string): string {
  return join(out, 'comparison.json');
}

export function writeComparison(out: string, comparison: Comparison): void {
  writeAtomically(fileOf(out), `${JSON.stringify({ schemaVersion: 1, ...comparison })}\n`);
}

/** undefined: there is none. Throws HarnessError('usage') if there is, and it cannot be read. */
export function readComparison(out: string): Comparison | undefined {
  const file = fileOf(out);
  if (!existsSync(file)) return undefined;
  try {
    const { profile, seed, plans } = fileSchema.parse(JSON.parse(readRunFile(file)));
    return { profile, seed, plans: plans.map((plan) => parsePlan(vocabulary, plan)) };
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new HarnessError('usage', `${file} is no comparison of this version: ${reason}`);
  }
}

/** undefined: not done, or ended early by a signal, which says nothing about the whole plan; or not of this version. */
function readDoneRun(directory: RunDirectory): DoneRun | undefined {
  try {
    const parsed = storedVerdict.safeParse(JSON.parse(readRunFile(directory.verdict)));
    if (!parsed.success || parsed.data['interrupted'] !== undefined) return undefined;
    return { directory, ...readStoredPlan(directory), verdict: parsed.data };
  } catch (error) {
    if (error instanceof HarnessError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A plan with its run. */
export interface Unit {
  readonly plan: Plan;
  /** undefined: it is not done. */
  readonly run: DoneRun | undefined;
}

/** Each plan with the last run of it that is done in these directories. O(runs in the directories). */
export function unitsOf(plans: readonly Plan[], outs: readonly string[]): Unit[] {
  const wanted = new Set(plans.map((plan) => JSON.stringify(plan)));
  const found = new Map<string, DoneRun>();
  const all = outs.flatMap((out) => doneRuns(out)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const directory of all) {
    const run = readDoneRun(directory);
    const key = JSON.stringify(run?.plan);
    if (run !== undefined && wanted.has(key)) found.set(key, run);
  }
  return plans.map((plan) => ({ plan, run: found.get(JSON.stringify(plan)) }));
}
