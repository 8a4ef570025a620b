// `lockpick explain`: what a finding means, which designs cannot have it, what to do about it, and which catalogued
// cells show it. The words are those of the report.

import { styleText } from 'node:util';
import { LIVENESS_CODES, POWER_CODES, SAFETY_CODES, type FindingCode } from '../../checkers/verdict.ts';
import { catalogue } from '../plan/catalogue.ts';
import type { Cell } from '../plan/cells/cell.ts';
import { cellName } from '../plan/cell-name.ts';
import { DEFAULT_VARIANT } from '../contract/backend.ts';
import { EXIT_CODE } from '../contract/errors.ts';
import { known } from '../plan/plan.ts';
import { CODE_MEANING } from '../report/meaning.ts';

const GROUPS: readonly { readonly words: string; readonly codes: readonly FindingCode[] }[] = [
  { words: 'safety: decides the grade', codes: SAFETY_CODES },
  { words: 'liveness: reported beside the grade', codes: LIVENESS_CODES },
  { words: 'power: why a clean result would mean little', codes: POWER_CODES },
];

const CELLS_SHOWN = 3;

export function explainCommand(wanted: readonly string[], flags: { readonly json?: boolean }): number {
  const all = GROUPS.flatMap(({ codes }) => codes);
  const codes = wanted.flatMap((name) => {
    known('code', name, all);
    return all.filter((code) => code === name);
  });
  if (flags.json === true) {
    const explained = (codes.length === 0 ? all : codes).map((code) => explanation(code));
    process.stdout.write(`${JSON.stringify(explained, null, 2)}\n`);
  } else if (codes.length === 0) process.stdout.write(overview());
  else process.stdout.write(codes.map((code) => explanationText(code)).join('\n'));
  return EXIT_CODE.ok;
}

function explanation(code: FindingCode) {
  const { proves, blame, notIn, remedy } = CODE_MEANING[code];
  return { code, proves, blame, notIn, remedy, shownBy: cellsThatShow(code).map((cell) => cellName(cell)) };
}

/** The catalogued cells in which it must occur, those of default variants first. */
function cellsThatShow(code: FindingCode): readonly Cell[] {
  return catalogue
    .filter(({ expected }) =>
      [...expected.findings, ...expected.oneOf, ...expected.liveness].some((other) => other === code),
    )
    .toSorted((a, b) => Number(a.variant !== DEFAULT_VARIANT) - Number(b.variant !== DEFAULT_VARIANT));
}

function explanationText(code: FindingCode): string {
  const { proves, blame, notIn, remedy, shownBy } = explanation(code);
  const group = GROUPS.find(({ codes }) => codes.includes(code))?.words ?? '';
  const again = shownBy.slice(0, CELLS_SHOWN).map((cell) => `lockpick run ${cell}`);
  return [
    `${styleText('bold', code, { stream: process.stdout })}  (${group})`,
    ...paragraph('What it proves', proves),
    ...paragraph('Whose fault', blame),
    ...paragraph('Who cannot have it', notIn),
    ...paragraph('What to do', remedy),
    ...(again.length === 0 ? [] : ['', 'See it happen', ...again.map((line) => `  ${line}`)]),
    '',
  ].join('\n');
}

function overview(): string {
  const width = Math.max(...GROUPS.flatMap(({ codes }) => codes.map(({ length }) => length)));
  return `${GROUPS.map(({ words, codes }) =>
    [words, ...codes.map((code) => `  ${code.padEnd(width)}  ${CODE_MEANING[code].proves}`)].join('\n'),
  ).join('\n\n')}\n`;
}

const LINE_CHARACTERS = 100;

function paragraph(title: string, text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line.length + word.length + 1 > LINE_CHARACTERS) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return ['', title, ...lines.map((line) => `  ${line}`)];
}
