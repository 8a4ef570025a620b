// What a person reads when a run is over: the verdict first, then the evidence, then what to type next (6.1). Pure text
// from a judged run; the HTML report tells the same at length.

import { styleText } from 'node:util';
import type { Finding, Grade, Verdict } from '../../checkers/verdict.ts';
import { seconds } from '../../checkers/wording.ts';
import type { Cell } from '../plan/cells/cell.ts';
import { cellName } from '../plan/cell-name.ts';
import { LOCKPICK } from './invocation.ts';
import type { Plan } from '../plan/plan.ts';
import { printable } from './printable.ts';

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
  /** undefined: none was written, or it was not kept. */
  readonly report: string | undefined;
  /** The catalogued cell, if the run is of one. */
  readonly cell: Cell | undefined;
  readonly replayCommand: string;
  /** Looks closer at what was found; undefined: its history was not kept, or there is nothing more to see. */
  readonly closer: { readonly label: string; readonly command: string } | undefined;
  readonly stream: NodeJS.WriteStream;
}

export function finalWords(options: FinalWordsOptions): string {
  const { plan, verdict, report, closer, cell, stream } = options;
  const [first] = [...verdict.findings, ...verdict.liveness];
  return words([
    headline(
      `${cellName(plan)}  (${plan.on === 'simulation' ? 'simulated, ' : ''}seed ${plan.seed})`,
      verdict,
      stream,
    ),
    `  ${expectation(verdict, cell)}`,
    ...evidence(verdict, stream),
    '',
    ...(report === undefined ? [] : [`  report: ${report}${first === undefined ? '' : `#/f/${first.id}`}`]),
    `  again:  ${options.replayCommand}`,
    ...(first === undefined || closer === undefined
      ? []
      : [`  ${`${closer.label}:`.padEnd(7)} ${closer.command}`]),
    ...(first === undefined ? [] : [`  means:  ${LOCKPICK} explain ${first.code}`]),
  ]);
}

/** The same for a bare history, which has no plan, no report and nothing to run again. */
export function judgementWords(path: string, verdict: Verdict, stream: NodeJS.WriteStream): string {
  return words([headline(path, verdict, stream), ...evidence(verdict, stream)]);
}

function words(lines: readonly string[]): string {
  return `${lines.join('\n')}\n\n`;
}

function headline(subject: string, { grade, liveness }: Verdict, stream: NodeJS.WriteStream): string {
  // Liveness stands beside the grade: a lock that nobody can have is safe, and no use.
  const beside = liveness.length === 0 ? '' : `, ${countsByCode(liveness)}`;
  const text = `${GRADE_SHAPE[grade]} ${grade.toUpperCase()}${beside}  ${printable(subject)}`;
  return styleText(['bold', GRADE_COLOUR[grade]], text, { stream });
}

function evidence(verdict: Verdict, stream: NodeJS.WriteStream): string[] {
  const { power } = verdict;
  const { planned, acted, hitHold } = power.faults;
  const bound =
    power.rateBound === null ? '' : `; 0 double grants ⇒ below ${percent(power.rateBound)} at 95 %`;
  const lines = [
    ...verdict.surprises.map((surprise) => `  ! ${printable(surprise)}`),
    `  power: ${power.grants} grants, ${power.contendedHandoffs} contended hand-offs, ${acted} of ${planned} faults acted, ${hitHold} hit a holder${bound}`,
    ...power.warnings.map(({ code, message }) => `  ? ${code}: ${printable(message)}`),
    ...verdict.checkers.flatMap(({ name, reason }) =>
      reason === undefined ? [] : [`  ? ${name}: ${printable(reason)}`],
    ),
  ];
  lines.push(...storeLines(verdict.stores), ...measureLines(verdict.measures));
  const found: readonly Finding[] = [...verdict.findings, ...verdict.liveness];
  if (found.length === 0) return lines;
  lines.push('', `  found: ${countsByCode(found)}`);
  for (const { code, at, story } of firstOfEachCode(found).slice(0, STORIES_SHOWN))
    lines.push(`  ${styleText('bold', code, { stream })} at ${seconds(at)}: ${printable(story)}`);
  return lines;
}

/** Which defences held, in one line each for those that did and those that did not. */
function storeLines(stores: Verdict['stores']): string[] {
  const held = stores.filter(({ verdict }) => verdict === 'valid').map(({ name }) => printable(name));
  const harmed = stores
    .filter(({ verdict }) => verdict === 'invalid')
    .map(({ name, findings }) => {
      const counts = Object.entries(findings).map(([code, count]) => `${count} × ${code}`);
      return `${printable(name)} (${counts.join(', ')})`;
    });
  const unsettled = stores.reduce((sum, { settled: { open = 0 } }) => sum + open, 0);
  return [
    ...(harmed.length > 0 ? [`  stores harmed: ${harmed.join(', ')}`] : []),
    ...(held.length > 0 ? [`  stores that held: ${held.join(', ')}`] : []),
    ...(unsettled > 0 ? [`  ? ${unsettled} unanswered writes may still take effect`] : []),
  ];
}

function measureLines({ waste, handover }: Verdict['measures']): string[] {
  const lines: string[] = [];
  if (waste !== undefined)
    lines.push(
      `  waste: of ${waste.ticks} ticks ${waste.double} ran twice (${percent(waste.doubleRate)}) and ${waste.missed} never (${percent(waste.missedRate)})`,
    );
  if (handover !== undefined) {
    const { latencyMillis, waitMillis, grantsPerClient, triesPerGrant, queueJumps } = handover;
    const jumps = queueJumps === null ? '' : `, ${queueJumps.count} queue jumps`;
    lines.push(
      `  hand-over: ${tenths(latencyMillis.p50)} ms (p99 ${tenths(latencyMillis.p99)}), longest wait ${tenths(waitMillis.max)} ms, ` +
        `${grantsPerClient.least} to ${grantsPerClient.most} grants a client, ${tenths(triesPerGrant)} tries a grant${jumps}`,
    );
  }
  return lines;
}

function tenths(value: number | null): string {
  return value === null ? '–' : value.toFixed(1);
}

function expectation(verdict: Verdict, cell: Cell | undefined): string {
  if (cell === undefined) return 'no expectation: theory says nothing of this run, so any finding counts';
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
