// What a comparison came to: one row a cell, over its seeds, with rates and their exact intervals. Made from plans and
// verdicts alone, in the order of the plans, and written without times and paths: shards merged give the bytes of an
// unsharded run.

import { cellOf } from '../plan/catalogue.ts';
import { cellName } from '../plan/cell-name.ts';
import type { Grade, SafetyCode, Verdict } from '../../checkers/verdict.ts';
import { replayCommand } from '../stored/stored-run.ts';
import { breakingFaults, breakingFaultsByCode } from './breaking-faults.ts';
import { identityOf, type Comparison, type DoneRun, type Unit } from './comparison.ts';
import { defencesOf, type DefenceSummary } from './defences.ts';
import { exactInterval, type Proportion } from './interval.ts';

/** Of a unit; `missing`: there is no run of it that is done. */
export type UnitOutcome = Verdict['outcome'] | 'missing';

export const WORST_FIRST = [
  'violation',
  'missing',
  'threshold',
  'inconclusive',
  'ok',
] as const satisfies readonly UnitOutcome[];

export interface Rate extends Proportion {
  /** The 95 % interval, rounded, so that it is the same on every machine. */
  readonly low: number;
  readonly high: number;
}

export interface UnitSummary {
  readonly seed: string;
  readonly outcome: UnitOutcome;
  /** The name of its directory, which has the time in it; null: missing. */
  readonly run: string | null;
  readonly grade: Grade | null;
  readonly surprises: readonly string[];
  readonly replay: string;
}

export interface CellSummary {
  readonly cell: string;
  /** Its runs are on models of servers, network and time. */
  readonly simulated: boolean;
  readonly expected: Grade | null;
  readonly because: string | null;
  /** Of its units. */
  readonly outcome: UnitOutcome;
  readonly grades: Readonly<Partial<Record<Grade, number>>>;
  /** Of the runs that are done. */
  readonly asExpected: Rate;
  /** Of the faults that were proved to act, those during which a safety rule was broken. null: none acted. */
  readonly breakingFaults: Rate | null;
  /** Of the same faults those that broke one rule, by its code. */
  readonly breakingFaultsByCode: Readonly<Partial<Record<SafetyCode, number>>>;
  /** Of the runs that are done those that broke one rule, by its code. */
  readonly breakingRunsByCode: Readonly<Partial<Record<SafetyCode, number>>>;
  readonly contendedHandoffs: number;
  /** Which defences of the store kept the data right; empty: its workload uses none. */
  readonly defences: readonly DefenceSummary[];
  /** By code, safety and liveness. */
  readonly findings: Readonly<Record<string, number>>;
  readonly units: readonly UnitSummary[];
}

export interface Summary {
  readonly schemaVersion: 1;
  readonly profile: string | null;
  readonly seed: string;
  readonly identity: string;
  readonly totals: Readonly<Record<UnitOutcome, number>>;
  readonly cells: readonly CellSummary[];
}

/** Of these units, which may be a part of the comparison. O(units + findings). */
export function summarise(comparison: Comparison, units: readonly Unit[]): Summary {
  const cells = Map.groupBy(units, ({ plan }) => JSON.stringify({ ...plan, seed: '' }));
  const outcomes = units.map(({ run }) => outcomeOf(run));
  const count = (outcome: UnitOutcome): number => outcomes.filter((other) => other === outcome).length;
  return {
    schemaVersion: 1,
    profile: comparison.profile,
    seed: comparison.seed,
    identity: identityOf(comparison),
    totals: {
      violation: count('violation'),
      missing: count('missing'),
      threshold: count('threshold'),
      inconclusive: count('inconclusive'),
      ok: count('ok'),
    },
    cells: [...cells.values()].map(cellSummary),
  };
}

function outcomeOf(run: DoneRun | undefined): UnitOutcome {
  return run?.verdict.outcome ?? 'missing';
}

function worstOf(outcomes: readonly UnitOutcome[]): UnitOutcome {
  return WORST_FIRST.find((outcome) => outcomes.includes(outcome)) ?? 'ok';
}

function cellSummary(units: readonly Unit[]): CellSummary {
  const [first] = units;
  const cell = first === undefined ? undefined : cellOf(first.plan);
  const verdicts = units.flatMap(({ run }) => (run === undefined ? [] : [run.verdict]));
  const breaking = breakingFaults(verdicts);
  return {
    cell: first === undefined ? '' : cellName(first.plan),
    simulated: first?.plan.on === 'simulation',
    expected: cell?.expected.grade ?? null,
    because: cell?.because ?? null,
    outcome: worstOf(units.map(({ run }) => outcomeOf(run))),
    grades: counted(verdicts.map(({ grade }) => grade)),
    asExpected: rate({
      hits: verdicts.filter(({ asExpected }) => asExpected).length,
      trials: verdicts.length,
    }),
    breakingFaults: breaking.trials === 0 ? null : rate(breaking),
    breakingFaultsByCode: breakingFaultsByCode(verdicts),
    breakingRunsByCode: counted(
      verdicts.flatMap(({ findings }) => [...new Set(findings.map(({ code }) => code))]),
    ),
    defences: defencesOf(verdicts),
    contendedHandoffs: sum(verdicts.map(({ power }) => power.contendedHandoffs)),
    findings: counted(
      verdicts.flatMap(({ findings, liveness }) => [...findings, ...liveness].map(({ code }) => code)),
    ),
    units: units.map(({ plan, run }) => ({
      seed: plan.seed,
      outcome: outcomeOf(run),
      run: run?.directory.name ?? null,
      grade: run?.verdict.grade ?? null,
      surprises: run?.verdict.surprises ?? [],
      replay: replayCommand(plan),
    })),
  };
}

function rate(proportion: Proportion): Rate {
  const { low, high } = exactInterval(proportion);
  return { ...proportion, low: rounded(low), high: rounded(high) };
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** By name, in order of the alphabet. */
function counted<Name extends string>(names: readonly Name[]): Partial<Record<Name, number>> {
  const counts: Partial<Record<Name, number>> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** summary.json: without the names of runs, which differ from machine to machine. */
export function summaryText(summary: Summary): string {
  return `${JSON.stringify(summary, (key, value: unknown) => (key === 'run' ? undefined : value), 2)}\n`;
}
