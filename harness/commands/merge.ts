// `lockpick merge`: the runs of all shards in one directory, and what they come to together. The summary has the same
// bytes as if one machine had run everything.

import { appendTrend, copyRun, readTrends } from '../stored/results.ts';
import { identityOf, readComparison, unitsOf, writeComparison } from '../comparison/comparison.ts';
import { summarise, summaryText } from '../comparison/summary.ts';
import { HarnessError } from '../contract/errors.ts';
import { aloud } from '../terminal/aloud.ts';
import { tellGitHub } from '../reporters/github.ts';
import { textChoice, type Choices } from '../settings/settings.ts';
import { exitCodeOfUnits, writeTogether } from './batch.ts';
import { reportsOf } from './run.ts';

export function mergeCommand(directories: readonly string[], choices: Choices): number {
  const out = textChoice(choices, 'out') ?? 'results';
  const parts = directories.map((directory) => {
    const comparison = readComparison(directory);
    if (comparison !== undefined) return { directory, comparison };
    throw new HarnessError('usage', `${directory} has no comparison.json`, {
      remedy: 'give the --out directories of `lockpick compare` or `lockpick run --shard`',
    });
  });
  const [first] = parts;
  if (first === undefined) throw new HarnessError('usage', 'nothing to merge');
  const { comparison } = first;
  const other = parts.find((part) => identityOf(part.comparison) !== identityOf(comparison));
  if (other !== undefined)
    throw new HarnessError('usage', `${other.directory} is of another comparison than ${first.directory}`, {
      remedy: 'shards must have the same cells, settings and --seed',
    });
  const sources = new Set(directories).add(out);
  const trends = new Map(directories.flatMap((directory) => readTrends(directory)));
  const there = new Map(readTrends(out));
  const units = unitsOf(comparison.plans, [...sources]).map(({ plan, run }) => {
    if (run === undefined) return { plan, run };
    const trend = trends.get(run.directory.name);
    if (trend !== undefined && !there.has(run.directory.name)) appendTrend(out, trend);
    return { plan, run: { ...run, directory: copyRun(run.directory, out) } };
  });
  writeComparison(out, comparison);
  const summary = summarise(comparison, units);
  const { say } = aloud({ quiet: choices.has('quiet') });
  writeTogether(summary, units, { out, reports: reportsOf(choices), say });
  if (choices.has('json')) process.stdout.write(summaryText(summary));
  tellGitHub(summary, process.env);
  return exitCodeOfUnits(units);
}
