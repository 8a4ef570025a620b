// What a real comparison came to, for readers of the documentation: its summary is kept in docs/comparison.json, the table
// in the README and docs/comparison.md are made from it. `npm run docs -- --comparison results/summary.json` keeps another.

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Grade } from '../../checkers/verdict.ts';
import { backends } from '../backends/index.ts';
import { PROFILES } from '../comparison/profiles.ts';
import { HarnessError } from '../contract/errors.ts';
import { PROFILE_NAMES } from '../plan/choices.ts';
import { cellRows } from '../reporters/markdown.ts';
import { doneRuns, readRunJson } from '../stored/results.ts';
import { readStoredPlan } from '../stored/stored-run.ts';
import { markdownTable } from './markdown-table.ts';

const root = join(import.meta.dirname, '../..');
const KEPT = join(root, 'docs/comparison.json');

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
        findings: z.record(z.string(), z.int()),
      }),
    )
    .min(1),
});
const keptSchema = summarySchema.extend({
  /** When the first run started, and on what. */
  started: z.string(),
  host: z.string(),
});
export type KeptComparison = z.output<typeof keptSchema>;

export function keptComparison(): KeptComparison {
  return keptSchema.parse(readRunJson(KEPT));
}

/** Keeps the summary at `path`, which stands beside its runs. Throws HarnessError('usage') if it is none. */
export function keepComparison(path: string): void {
  const parsed = summarySchema.safeParse(readRunJson(path));
  const [first] = doneRuns(dirname(path));
  if (!parsed.success || first === undefined)
    throw new HarnessError('usage', `${path} is not the summary.json of a comparison beside its runs`, {
      remedy: 'give summary.json of the --out of `lockpick compare` or `lockpick merge`',
    });
  const { started, host } = readStoredPlan(first).surroundings;
  const kept: KeptComparison = {
    ...parsed.data,
    started: started.slice(0, 10),
    host: `${host.cpus} processors, ${Math.round(host.memoryBytes / 2 ** 30)} GiB, ${host.engine.replace(/ \(.*$/, '')}`,
  };
  writeFileSync(KEPT, `${JSON.stringify(kept, null, 2)}\n`);
}

const BEGIN = '<!-- docs/comparison.json -->';
const END = '<!-- end of docs/comparison.json -->';

/** The README with the table of this comparison between its marks. Throws if it has none. */
export function readmeWith(readme: string, kept: KeptComparison): string {
  const [from, to] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (from === -1 || to < from) throw new Error(`the README has no place between ${BEGIN} and ${END}`);
  const table = ['', '', ...markdownTable(locksTable(kept)), '', comparedWords(kept), '', ''].join('\n');
  return readme.slice(0, from + BEGIN.length) + table + readme.slice(to);
}

export function currentReadme(): string {
  return readmeWith(readFileSync(join(root, 'README.md'), 'utf8'), keptComparison());
}

const COLUMNS: readonly (readonly [Grade, string])[] = [
  ['safe', 'safe under'],
  ['safe-with-fencing', 'safe with fencing under'],
  ['unsafe', 'unsafe under'],
  ['inconclusive', 'inconclusive under'],
];

type KeptCell = KeptComparison['cells'][number];

function lockOf({ cell }: KeptCell): string {
  return cell.split('/').slice(0, 2).join('/');
}

/** Wrong on purpose, there to be caught. */
function isFlawed({ cell }: KeptCell): boolean {
  const [served = '', recipe] = cell.split('/');
  const backend = backends.find(({ name }) => name === served.split(':', 1).join(''));
  return backend?.recipes.find(({ name }) => name === recipe)?.flaw !== undefined;
}

/** A row a lock that is not wrong on purpose: under which faults it came out how, with the usual workload if it has it. */
function locksTable({ cells: all }: KeptComparison): string[][] {
  const meant = all.filter((cell) => !isFlawed(cell));
  const usual = new Set(meant.filter(hasUsualWorkload).map(lockOf));
  const cells = meant.filter((cell) => hasUsualWorkload(cell) || !usual.has(lockOf(cell)));
  const columns = COLUMNS.filter(([seen]) => cells.some(({ grades }) => grades[seen] !== undefined));
  const locks = Map.groupBy(cells, lockOf);
  return [
    ['lock', ...columns.map(([, words]) => words)],
    ...[...locks].map(([lock, members]) => [
      `\`${lock}\``,
      ...columns.map(
        ([seen]) =>
          members
            .filter(({ grades }) => grades[seen] !== undefined)
            .map((member) => faultWords(member, seen))
            .join(', ') || '–',
      ),
    ]),
  ];
}

/** A cell names its workload where it is another. */
function hasUsualWorkload({ cell }: KeptCell): boolean {
  return cell.split('/').length === 3;
}

/** `pause-holder`; of a cell that did not always come out so how often; **bold** what theory did not expect. */
function faultWords(member: KeptCell, seen: Grade): string {
  const { cell, grades, asExpected } = member;
  const [, , fault = '', workload] = cell.split('/');
  const often = grades[seen] ?? 0;
  const name = `${fault === 'none' ? 'no fault' : fault}${workload === undefined ? '' : ` (${workload})`}`;
  const words = often === asExpected.trials ? name : `${name} (${often} of ${asExpected.trials})`;
  return asExpected.hits === asExpected.trials ? words : `**${words}**`;
}

function comparedWords({ profile, seed, cells, totals, started, host }: KeptComparison): string {
  const runs = Object.values(totals).reduce((sum, count) => sum + count, 0);
  const other = runs - (totals['ok'] ?? 0);
  const outcome =
    other === 0
      ? 'all of them as theory expects'
      : `${other} of them not as theory expects (the cells in bold)`;
  return (
    `A real run: profile ${profile} (${PROFILES[profile].summary}), ${cells.length} cells, ${runs} runs, ${outcome}; ` +
    `${started}, ${host}. ${flawedWords(cells)}\`npm run -s lockpick -- compare --profile ${profile} --seed ${seed}\` makes it again. ` +
    'Rates with their exact intervals: [`docs/comparison.md`](docs/comparison.md).'
  );
}

/** Empty if it had none. */
function flawedWords(cells: readonly KeptCell[]): string {
  const recipes = Map.groupBy(cells.filter(isFlawed), lockOf);
  const caught = [...recipes.values()].filter((own) =>
    own.every(({ asExpected: { hits, trials } }) => hits === trials),
  );
  return recipes.size === 0
    ? ''
    : `Of ${recipes.size} recipes that are wrong on purpose ${caught.length} were caught in every run. `;
}

/** docs/comparison.md: a row a cell, with what theory expects and all rates. */
export function comparisonPage(kept: KeptComparison): string {
  return [
    '# A comparison',
    '',
    'Made from a real run by `npm run docs`. _As expected_ counts runs; faults that broke a rule are of those that were ' +
      'proved to act. Intervals are exact, at 95 % (Clopper and Pearson).',
    '',
    comparedWords(kept).replace(/ Rates with their.*$/, ''),
    '',
    ...cellRows(kept.cells),
    '',
  ].join('\n');
}
