// What a person reads when a run is over: the verdict first, then the evidence, then what to type next (6.1). Pure text
// from a judged run; the HTML report tells the same at length.

import { styleText } from 'node:util';
import type { Finding, Grade, Verdict } from '../checkers/verdict.ts';
import type { Cell } from './catalogue.ts';
import { cellName, type Plan } from './plan.ts';
import type { RunDirectory } from './results.ts';

/** No status by colour alone: each grade has its word and its shape. */
const GRADE_SHAPE: Readonly<Record<Grade, string>> = {
  safe: '●',
  'safe-with-fencing': '◐',
  unsafe: '✖',
  inconclusive: '?',
};
const GRADE_COLOUR = {
  safe: 'green',
  'safe-with-fencing': 'yellow',
  unsafe: 'red',
  inconclusive: 'magenta',
} as const;

const STORIES_SHOWN = 3;

export interface FinalWordsOptions {
  readonly plan: Plan;
  readonly verdict: Verdict;
  readonly directory: RunDirectory;
  /** The catalogued cell, if the run is of one. */
  readonly cell: Cell | undefined;
  readonly replayCommand: string;
  readonly stream: NodeJS.WriteStream;
}

export function finalWords({
  plan,
  verdict,
  directory,
  cell,
  replayCommand,
  stream,
}: FinalWordsOptions): string {
  const { grade, findings, liveness, power } = verdict;
  const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
    styleText(style, text, { stream });
  const lines = [
    paint(
      ['bold', GRADE_COLOUR[grade]],
      `${GRADE_SHAPE[grade]} ${grade.toUpperCase()}  ${cellName(plan)}  (seed ${plan.seed})`,
    ),
    `  ${expectation(verdict, cell)}`,
    ...verdict.surprises.map((surprise) => `  ! ${surprise}`),
    `  power: ${power.grants} grants, ${power.contendedHandoffs} contended hand-offs, ${power.faults.acted} of ${power.faults.planned} faults acted, ${power.faults.hitHold} hit a holder` +
      (power.rateBound === null ? '' : `; 0 double grants ⇒ below ${percent(power.rateBound)} at 95 %`),
    ...power.warnings.map(({ code, message }) => `  ? ${code}: ${message}`),
    ...verdict.checkers.flatMap(({ name, reason }) =>
      reason === undefined ? [] : [`  ? ${name}: ${reason}`],
    ),
  ];
  const all: readonly Finding[] = [...findings, ...liveness];
  if (all.length > 0) {
    lines.push('', `  found: ${countsByCode(all)}`);
    for (const finding of firstOfEachCode(all).slice(0, STORIES_SHOWN))
      lines.push(`  ${paint('bold', finding.code)} at ${(finding.at / 1e9).toFixed(3)} s: ${finding.story}`);
  }
  const [first] = all;
  lines.push(
    '',
    `  report: ${directory.report}${first === undefined ? '' : `#f-${first.id}`}`,
    `  again:  ${replayCommand}`,
    '',
  );
  return `${lines.join('\n')}\n`;
}

function expectation(verdict: Verdict, cell: Cell | undefined): string {
  if (cell === undefined) return 'no expectation: this cell is not in the catalogue';
  const because = `${cell.expected.grade}, because ${cell.because}`;
  return verdict.asExpected ? `as expected: ${because}` : `NOT as expected: theory says ${because}`;
}

/** `3 × belief-overlap, 1 × lost-update` */
export function countsByCode(findings: readonly Finding[]): string {
  const counts = new Map<string, number>();
  for (const { code } of findings) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].map(([code, count]) => `${count} × ${code}`).join(', ');
}

function firstOfEachCode(findings: readonly Finding[]): readonly Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ code }) => !seen.has(code) && seen.add(code));
}

function percent(rate: number): string {
  return `${(rate * 100).toPrecision(2)} %`;
}
