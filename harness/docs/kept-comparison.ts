// A real comparison, kept for the documentation: docs/comparison.json has its rates and on what it ran, docs/comparison.html
// is its report. `npm run docs -- --comparison results/summary.json` keeps another.

import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { SAFETY_CODES } from '../../checkers/verdict.ts';
import { pageTogether } from '../commands/page-together.ts';
import { readComparison, unitsOf } from '../comparison/comparison.ts';
import { HarnessError } from '../contract/errors.ts';
import { PROFILE_NAMES } from '../plan/choices.ts';
import { hasEvidence, readRunJson, readRunLines, type RunDirectory } from '../stored/results.ts';
import { readStoredPlan } from '../stored/stored-run.ts';

export const ROOT = join(import.meta.dirname, '../..');
const KEPT = join(ROOT, 'docs/comparison.json');
const PAGE = join(ROOT, 'docs/comparison.html');
/** What a browser opens at once and a clone does not feel. */
const PAGE_BYTES_MAX = 10_000_000;

const rate = z.object({ hits: z.int(), trials: z.int(), low: z.number(), high: z.number() });
const grade = z.enum(['safe', 'safe-with-fencing', 'unsafe', 'inconclusive']);
const summarySchema = z.object({
  schemaVersion: z.literal(1),
  profile: z.enum(PROFILE_NAMES),
  seed: z.string(),
  totals: z.record(z.string(), z.int()),
  cells: z
    .array(
      z.object({
        cell: z.string(),
        simulated: z.boolean(),
        expected: grade.nullable(),
        outcome: z.enum(['violation', 'missing', 'threshold', 'inconclusive', 'ok']),
        grades: z.partialRecord(grade, z.int()),
        asExpected: rate,
        breakingFaults: rate.nullable(),
        breakingFaultsByCode: z.partialRecord(z.enum(SAFETY_CODES), z.int()),
        breakingRunsByCode: z.partialRecord(z.enum(SAFETY_CODES), z.int()),
        findings: z.record(z.string(), z.int()),
      }),
    )
    .min(1),
});
const keptSchema = summarySchema.extend({
  /** When the first run started, and on what. */
  started: z.string(),
  host: z.string(),
  /** Of the servers, as they said themselves: `etcd 3.5.16`. */
  versions: z.array(z.string()),
  /** By whoever made it: what a reader must know beside the figures, such as runs that were made again. */
  remarks: z.array(z.string()),
});
export type KeptComparison = z.output<typeof keptSchema>;

export function keptComparison(): KeptComparison {
  return keptSchema.parse(readRunJson(KEPT));
}

/**
 * Keeps the summary at `path`, which stands beside its runs, and makes their page. Throws HarnessError('usage') if it is
 * none, or if the page is larger than it may be.
 */
export function keepComparison(path: string, say: (line: string) => void): void {
  const parsed = summarySchema.safeParse(readRunJson(path));
  const out = dirname(path);
  const comparison = readComparison(out);
  const units = unitsOf(comparison?.plans ?? [], [out]);
  const runs = units
    .flatMap(({ run }) => run?.directory ?? [])
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const [first] = runs;
  const page = pageTogether(units, { links: false, trends: [], say });
  if (!parsed.success || first === undefined || page === undefined)
    throw new HarnessError('usage', `${path} is not the summary.json of a comparison beside its runs`, {
      remedy: 'give summary.json of the --out of `lockpick compare` or `lockpick merge`',
    });
  const bytes = Buffer.byteLength(page.text);
  if (bytes > PAGE_BYTES_MAX)
    throw new HarnessError('usage', `the page of ${out} has ${bytes} bytes, more than ${PAGE_BYTES_MAX}`, {
      remedy: 'compare with less load, e.g. --time-limit 10s',
    });
  const { started, host } = readStoredPlan(first).surroundings;
  const kept: KeptComparison = {
    ...parsed.data,
    started: started.slice(0, 10),
    host: `${host.cpus} processors, ${Math.round(host.memoryBytes / 2 ** 30)} GiB, ${host.engine.replace(/ \(.*$/, '')}`,
    versions: [...new Set(runs.flatMap(serverVersions))].toSorted(),
    remarks: [],
  };
  writeFileSync(KEPT, `${JSON.stringify(kept, null, 2)}\n`);
  writeFileSync(PAGE, page.text);
  say(`docs/comparison.html: ${page.which} runs, ${(bytes / 1e6).toFixed(1)} MB`);
}

const headerSchema = z.object({
  meta: z.object({ serverVersions: z.record(z.string(), z.string()).optional() }),
});

/** Of a run that has kept its history. */
function serverVersions(run: RunDirectory): readonly string[] {
  if (!hasEvidence(run)) return [];
  const [line = ''] = readRunLines(run.history).take(1);
  return Object.values(headerSchema.parse(JSON.parse(line)).meta.serverVersions ?? {});
}
