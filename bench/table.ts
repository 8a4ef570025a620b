// The measured rows as they are kept in `bench/models.json`, and the table of them in the README. A test compares the two.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { markdownTable } from '../harness/reporters/markdown-table.ts';

export interface Measured {
  readonly verdict: string;
  /** Processor times. */
  readonly readMillis: number;
  readonly checkMillis: number;
  /** Of ours: the best of repeated checks in the same process. */
  readonly againMillis?: number;
  /** Peak resident memory. */
  readonly megabytes: number;
}

export interface MeasuredRow {
  readonly name: string;
  readonly ours: Measured;
  /** null: it does not judge by this model. */
  readonly porcupine: Measured | null;
}

/** Of a whole command, start to end, the best of several. */
export interface MeasuredCommand {
  readonly name: string;
  readonly millis: number;
}

/** Of histories that others published: how many times longer Porcupine takes, file by file. */
export interface MeasuredFiles {
  readonly files: number;
  readonly sameVerdict: number;
  readonly medianRatio: number;
  readonly lowestRatio: number;
  readonly oursMillis: number;
  readonly porcupineMillis: number;
}

export interface Results {
  readonly machine: string;
  /** What Porcupine was given for a row. */
  readonly seconds: number;
  readonly gigabytes: number;
  readonly rows: readonly MeasuredRow[];
  readonly commands: readonly MeasuredCommand[];
  readonly publicHistories: MeasuredFiles | null;
}

export const RESULTS_PATH = join(import.meta.dirname, 'models.json');
export const README_PATH = join(import.meta.dirname, '../README.md');

export function readResults(): Results {
  return JSON.parse(readFileSync(RESULTS_PATH, 'utf8')) as Results;
}

const BEGIN = '<!-- bench/models.json -->';
const END = '<!-- end of bench/models.json -->';

/** What stands between the markers. Throws if there are none. */
export function tableIn(readme: string): string {
  const [from, to] = placeIn(readme);
  return readme.slice(from, to);
}

export function withTable(readme: string, table: string): string {
  const [from, to] = placeIn(readme);
  return readme.slice(0, from) + table + readme.slice(to);
}

function placeIn(readme: string): readonly [number, number] {
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error(`the README has no place between ${BEGIN} and ${END}`);
  return [begin + BEGIN.length, end];
}

/** Markdown, as prettier has it. */
export function tableOf({ machine, seconds, gigabytes, rows, commands, publicHistories }: Results): string {
  const table = [
    ['history', 'lockpick', 'again', 'Porcupine', 'ratio', 'again'],
    ...rows.map(({ name, ours, porcupine }) => [
      name,
      inWords(ours),
      ours.againMillis === undefined ? '–' : duration(ours.againMillis),
      porcupine === null ? '–' : inWords(porcupine),
      porcupine === null ? '–' : ratioOf(ours.checkMillis, porcupine),
      porcupine === null || ours.againMillis === undefined ? '–' : ratioOf(ours.againMillis, porcupine),
    ]),
  ];
  const files =
    publicHistories === null
      ? []
      : [
          `On ${publicHistories.files} published register, key-value and multi-register histories the verdicts agree on ` +
            `${publicHistories.sameVerdict}; Porcupine takes ${factor(publicHistories.medianRatio)} × our time on the ` +
            `median file, ${factor(publicHistories.lowestRatio)} × at least, and ` +
            `${duration(publicHistories.porcupineMillis)} for all together where we take ${duration(publicHistories.oursMillis)}.`,
          '',
        ];
  return [
    '',
    '',
    ...markdownTable(table, 'aligned'),
    '',
    `Processor time of the check, after reading (which is in parentheses), and peak memory; each in a fresh process on the same file, the best of three tries. _Again_: checked once more in the same process, when the engine has compiled what it runs. ` +
      `Porcupine 1.3 is stopped after ${seconds} s or ${gigabytes} GiB. ${machine}.`,
    '',
    ...files,
    ...(commands.length === 0
      ? []
      : [`${commands.map(({ name, millis }) => `\`${name}\` takes ${duration(millis)}`).join(', ')}.`, '']),
    '',
  ].join('\n');
}

function inWords({ verdict, readMillis, checkMillis, megabytes }: Measured): string {
  const read = readMillis > 0 ? ` (+ ${duration(readMillis)})` : '';
  const what = verdict === 'valid' || verdict === 'invalid' ? verdict : `**${verdict}**`;
  return `${what}, ${duration(checkMillis)}${read}, ${megabytes} MB`;
}

function ratioOf(ourMillis: number, porcupine: Measured): string {
  const gaveUp = porcupine.verdict !== 'valid' && porcupine.verdict !== 'invalid';
  return `${gaveUp ? '> ' : ''}${factor(porcupine.checkMillis / ourMillis)} ×`;
}

function factor(ratio: number): string {
  return ratio >= 10 ? Math.round(ratio).toLocaleString('en') : ratio.toFixed(1);
}

function duration(millis: number): string {
  if (millis >= 10_000) return `${Math.round(millis / 1000)} s`;
  if (millis >= 1_000) return `${(millis / 1000).toFixed(1)} s`;
  return millis >= 10 ? `${Math.round(millis)} ms` : `${millis.toFixed(1)} ms`;
}
