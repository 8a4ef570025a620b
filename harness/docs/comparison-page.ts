// What a real comparison came to, for readers of the documentation: the README has how often each lock was lost,
// docs/comparison.md every cell.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Grade, SafetyCode } from '../../checkers/verdict.ts';
import { backends } from '../backends/index.ts';
import { PROFILES } from '../comparison/profiles.ts';
import { answerText, QUESTIONS, ratesOf } from '../comparison/rates.ts';
import { markdownTable, inlineCode } from '../reporters/markdown-table.ts';
import { cellRows } from '../reporters/markdown.ts';
import { keptComparison, ROOT, type KeptComparison } from './kept-comparison.ts';

const BEGIN = '<!-- docs/comparison.json -->';
const END = '<!-- end of docs/comparison.json -->';

/** The README with the table of this comparison between its marks. Throws if it has none. */
export function readmeWith(readme: string, kept: KeptComparison): string {
  const [from, to] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (from === -1 || to < from) throw new Error(`the README has no place between ${BEGIN} and ${END}`);
  const lines = [
    '',
    '',
    ...markdownTable(ratesTable(kept), 'aligned'),
    '',
    READ_AS,
    '',
    comparedWords(kept),
    '',
    '',
  ];
  return readme.slice(0, from + BEGIN.length) + lines.join('\n') + readme.slice(to);
}

export function currentReadme(): string {
  return readmeWith(readFileSync(join(ROOT, 'README.md'), 'utf8'), keptComparison());
}

const READ_AS =
  'Of the runs, or of the faults that were proved to act, those in which it happened, with the exact 95 % interval ' +
  '(Clopper and Pearson). How each lock came out under each fault: [`docs/comparison.md`](docs/comparison.md); the ' +
  'report of the same runs: [`docs/comparison.html`](docs/comparison.html).';

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

/** A row a lock that is not wrong on purpose: how often what was done to it broke it. */
function ratesTable({ cells }: KeptComparison): string[][] {
  const tried = cells
    .filter((cell) => !isFlawed(cell))
    .map((cell) => ({
      lock: lockOf(cell),
      fault: cell.cell.split('/')[2] ?? '',
      faults: (code: SafetyCode) => ({
        hits: cell.breakingFaultsByCode[code] ?? 0,
        trials: cell.breakingFaults?.trials ?? 0,
      }),
      runs: (code: SafetyCode) => ({
        hits: cell.breakingRunsByCode[code] ?? 0,
        trials: cell.asExpected.trials,
      }),
    }));
  return [
    ['lock', ...QUESTIONS.map(({ asked }) => asked)],
    ...ratesOf(tried).map(({ lock, answers }) => [inlineCode(lock), ...answers.map(answerText)]),
  ];
}

/** A row a lock: under which faults it came out how, with the usual workload if it has it. */
function locksTable({ cells: all }: KeptComparison): string[][] {
  const meant = all.filter((cell) => !isFlawed(cell));
  const locks = [...Map.groupBy(meant, lockOf)].map(([lock, own]) => {
    const usual = own.filter(hasUsualWorkload);
    return [lock, usual.length > 0 ? usual : own] as const;
  });
  const cells = locks.flatMap(([, members]) => members);
  const columns = COLUMNS.filter(([seen]) => cells.some(({ grades }) => grades[seen] !== undefined));
  return [
    ['lock', ...columns.map(([, words]) => words)],
    ...locks.map(([lock, members]) => [
      inlineCode(lock),
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

function comparedWords(kept: KeptComparison): string {
  const { profile, seed, cells, started, host, versions, remarks } = kept;
  const command = `\`npm run -s lockpick -- compare --profile ${profile} --seed ${seed}\``;
  return (
    `A real run: profile ${profile} (${PROFILES[profile].summary}), ${cells.length} cells, ${runsWords(kept)}; ` +
    `${started}, ${host}. ${flawedWords(cells)}${safeWords(cells)}${command} makes it again. ` +
    [`Servers: ${versions.join(', ')}.`, ...remarks].join(' ')
  );
}

/** How many runs there are, with how many seeds, and how many came out otherwise. */
function runsWords({ cells, totals }: KeptComparison): string {
  const seeds = cells.map(({ asExpected }) => asExpected.trials);
  const [fewest, most] = [Math.min(...seeds), Math.max(...seeds)];
  const runs = seeds.reduce((sum, count) => sum + count, 0);
  const { ok = 0, inconclusive = 0 } = totals;
  const other = runs - ok - inconclusive;
  const unexpected = [
    ...(other === 0 ? [] : [`${other} of them not as theory expects`]),
    ...(inconclusive === 0 ? [] : [`${inconclusive} of them inconclusive`]),
  ];
  return [
    `${runs} runs`,
    `${fewest === most ? fewest : `${fewest} to ${most}`} of a cell`,
    unexpected.length === 0
      ? 'all of them as theory expects'
      : `${unexpected.join(' and ')} (in bold in docs/comparison.md)`,
  ].join(', ');
}

/** Empty if it had none. */
function flawedWords(cells: readonly KeptCell[]): string {
  const recipes = Map.groupBy(cells.filter(isFlawed), lockOf);
  const caught = [...recipes.values()].filter((own) =>
    own.every(({ asExpected: { hits, trials } }) => hits === trials && trials > 0),
  );
  return recipes.size === 0
    ? ''
    : `Of ${recipes.size} recipes that are wrong on purpose ${caught.length} were caught in every run. `;
}

/** What was found where nothing may be: false alarms, or news. Empty if there is no such cell. */
function safeWords(cells: readonly KeptCell[]): string {
  const safe = cells.filter((each) => each.expected === 'safe' && !isFlawed(each));
  const runs = safe.reduce((sum, { asExpected }) => sum + asExpected.trials, 0);
  const found = safe
    .flatMap(({ findings }) => Object.values(findings))
    .reduce((sum, count) => sum + count, 0);
  return runs === 0
    ? ''
    : `In the ${runs} runs of the ${safe.length} cells of right recipes that theory calls safe ${found === 0 ? 'nothing was' : `${found} findings were`} found. `;
}

/** docs/comparison.md: how each lock came out, then a row a cell with what theory expects and all rates. */
export function comparisonPage(kept: KeptComparison): string {
  return [
    '# A comparison',
    '',
    'Made from a real run by `npm run docs`; its report with the most telling runs is [`comparison.html`](comparison.html).',
    '',
    comparedWords(kept),
    '',
    ...markdownTable(locksTable(kept), 'aligned'),
    '',
    '## All cells',
    '',
    '_As expected_ counts runs; faults that broke a rule are of those that were proved to act. Intervals are exact, at ' +
      '95 % (Clopper and Pearson).',
    '',
    ...cellRows(kept.cells),
    '',
  ].join('\n');
}
