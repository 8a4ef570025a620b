// `lockpick run` and `lockpick compare`: from what the user chose to a batch of plans. They differ in what runs if no
// cell is named, and in what goes to stdout.

import { loadAdapters } from '../settings/adapters.ts';
import { EXPORTED_REPORTS, KEEP_CHOICES, PROFILE_NAMES, type ProfileName } from '../plan/choices.ts';
import { readComparison, type Comparison } from '../comparison/comparison.ts';
import { parseShard, WHOLE } from '../comparison/shard.ts';
import { known } from '../plan/plan.ts';
import { freshSeed } from '../rng.ts';
import { inTheUsersWords, listChoice, textChoice, type Choices } from '../settings/settings.ts';
import { runBatch, type BatchOptions } from './batch.ts';
import { placed, possible } from './place.ts';
import { plansOf } from './plans.ts';

export async function runCommand(patterns: readonly string[], chosen: Choices): Promise<number> {
  const { comparison, choices } = await whatRuns(patterns, chosen, undefined);
  return runBatch(comparison, batchOptions(choices, 'each'));
}

export async function compareCommand(patterns: readonly string[], chosen: Choices): Promise<number> {
  const profile = profileOf(chosen) ?? 'standard';
  const { comparison, choices } = await whatRuns(patterns, chosen, profile);
  return runBatch(comparison, batchOptions(choices, 'all'));
}

export function profileOf(choices: Choices): ProfileName | undefined {
  return PROFILE_NAMES.find((name) => name === textChoice(choices, 'profile'));
}

/** What runs, without what cannot, and with where it runs decided. Throws HarnessError('usage') in the user's words. */
export async function whatRuns(
  patterns: readonly string[],
  chosen: Choices,
  profile: ProfileName | undefined,
): Promise<{ readonly comparison: Comparison; readonly choices: Choices }> {
  const choices = await placed(chosen);
  const comparison = await possible(await comparisonOf(patterns, choices, profile), chosen, patterns);
  return { comparison, choices };
}

/** What was asked for. Throws as `whatRuns` does. */
export async function comparisonOf(
  patterns: readonly string[],
  choices: Choices,
  profile: ProfileName | undefined,
): Promise<Comparison> {
  const adapters = await loadAdapters(listChoice(choices, 'adapter'));
  const stored = choices.has('resume') ? readComparison(outOf(choices)) : undefined;
  const seed = textChoice(choices, 'seed') ?? stored?.seed ?? freshSeed();
  const plans = plansOf({ patterns, choices, adapters, seed, ...(profile !== undefined && { profile }) });
  return { profile: profile ?? null, seed, plans };
}

function outOf(choices: Choices): string {
  return textChoice(choices, 'out') ?? 'results';
}

function batchOptions(choices: Choices, json: 'each' | 'all'): BatchOptions {
  const keep = textChoice(choices, 'keep') ?? 'always';
  const shard = textChoice(choices, 'shard');
  return {
    out: outOf(choices),
    reports: reportsOf(choices),
    keep: KEEP_CHOICES.find((choice) => choice === keep) ?? 'always',
    shard: shard === undefined ? WHOLE : parseShard(shard, choices.get('shard')?.written ?? shard),
    resume: choices.has('resume'),
    json: choices.has('json') ? json : 'none',
    quiet: choices.has('quiet'),
  };
}

/** Throws HarnessError('usage') with the nearest names. */
export function reportsOf(choices: Choices): BatchOptions['reports'] {
  const names = listChoice(choices, 'reporter');
  for (const name of names) inTheUsersWords(choices, () => known('reporter', name, EXPORTED_REPORTS));
  return new Set(EXPORTED_REPORTS.filter((report) => names.length === 0 || names.includes(report)));
}
