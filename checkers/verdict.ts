// What a checker may say. `invalid` cannot be built without evidence; `unknown` not without a reason (I7).
// Checkers return `RuleResult`s; the harness's `judge.ts` folds them into one `Verdict`, the object of verdict.json.

import type { Json, JsonRecord, Nanos } from '../harness/history/op.ts';

/** Against mutual exclusion, fencing or the data: decides the grade. */
export const SAFETY_CODES = [
  'double-grant',
  'belief-overlap',
  'expired-grant',
  'late-loss-notice',
  'token-regression',
  'stale-write-accepted',
  'stale-write-landed',
  'lost-update',
  'foreign-release',
  'not-linearizable',
  'oversold',
  'duplicate-effect',
] as const;

/** A lock that cannot be had, by anybody or by one client: reported beside the grade, never folded into it. */
export const LIVENESS_CODES = ['stuck-lock', 'not-reacquired', 'starved', 'orphan-state'] as const;

/** Why a clean result would mean little. */
export const POWER_CODES = [
  'fault-had-no-effect',
  'harness-stalled',
  'clock-uncertain',
  'too-little-load',
] as const;

export type SafetyCode = (typeof SAFETY_CODES)[number];
export type LivenessCode = (typeof LIVENESS_CODES)[number];
export type PowerCode = (typeof POWER_CODES)[number];
export type FindingCode = SafetyCode | LivenessCode | PowerCode;

/** One piece of evidence against a rule. What it says did happen. */
export interface Finding<Code extends FindingCode = FindingCode> {
  /** Hash of code, lock, store and operations: the same for the same evidence, whenever it is judged. */
  readonly id: string;
  readonly code: Code;
  readonly lock?: string;
  readonly store?: string;
  readonly processes: readonly string[];
  /** Operation ids, in the order in which the story names them. */
  readonly ops: readonly number[];
  /** When it was complete: the moment from which nobody can deny it. */
  readonly at: Nanos;
  /** Ids of the faults that may have acted between the first operation and `at`: ordered before, and not proved to be over. */
  readonly faults: readonly string[];
  /** Two or three plain sentences. */
  readonly story: string;
  /** The numbers behind the story: intervals, tokens, versions. */
  readonly evidence: JsonRecord;
}

export type SafetyFinding = Finding<SafetyCode>;
export type LivenessFinding = Finding<LivenessCode>;
export type NonEmpty<T> = readonly [T, ...T[]];

/** The answer of one rule. */
export type RuleResult<Code extends FindingCode = FindingCode> =
  | { readonly verdict: 'valid' }
  | { readonly verdict: 'unknown'; readonly reason: string }
  | {
      readonly verdict: 'invalid';
      readonly findings: NonEmpty<Finding<Code>>;
      /** So many more were found, and are not listed. */
      readonly omitted?: number;
    };

/** `invalid` with these findings, or `valid` if there are none. */
export function resultOf<Code extends FindingCode>(
  findings: readonly Finding<Code>[],
  omitted = 0,
): RuleResult<Code> {
  const [first, ...rest] = findings;
  if (first === undefined) return { verdict: 'valid' };
  return { verdict: 'invalid', findings: [first, ...rest], ...(omitted > 0 && { omitted }) };
}

export type Grade = 'safe' | 'safe-with-fencing' | 'unsafe' | 'inconclusive';

/** What theory expects of a cell (5.2 of the design). */
export interface Expectation {
  readonly grade: Grade;
  /** Each of these must occur: an expected finding that is not reproduced is itself a failure. */
  readonly findings: readonly SafetyCode[];
  /** At least one of these must occur; empty: nothing is asked. */
  readonly oneOf: readonly SafetyCode[];
  readonly liveness: readonly LivenessCode[];
  /** These may occur besides. */
  readonly allowed: readonly SafetyCode[];
  /** Its queue must be seen to be none. */
  readonly queueJumps?: true;
  /** Store → what must occur in it; for a defence that theory says is not enough. */
  readonly stores?: Readonly<Record<string, readonly SafetyCode[]>>;
  /**
   * How the run differs from what this was made for, such as `--ttl 3s`. What may not occur may not then either; what must
   * occur may not have been given the chance, so that without it the run is inconclusive.
   */
  readonly changed?: readonly string[];
}

/** What the store's record says of a write whose client never learned its outcome. */
export interface Settlement {
  readonly op: number;
  readonly process: string;
  readonly key: string;
  /** It took effect · the store refused it · it did not and never will · nobody can tell. */
  readonly outcome: 'landed' | 'refused' | 'never' | 'open';
}

/** One defence, graded by itself. */
export interface StoreResult {
  /** Of the store, which is that of its defence. */
  readonly name: string;
  /** `invalid`: harm was found in it. `unknown`: nothing was, and `reason` says why that means little. */
  readonly verdict: 'valid' | 'invalid' | 'unknown';
  /** How often each code was found in it. */
  readonly findings: Readonly<Partial<Record<SafetyCode, number>>>;
  /** Those of them that its defence promises to prevent. */
  readonly brokenPromises: readonly SafetyCode[];
  /** As the clients learned it. */
  readonly writes: { readonly accepted: number; readonly refused: number; readonly unanswered: number };
  /** How many of those that were never answered the record settles, and how. */
  readonly settled: Readonly<Partial<Record<Settlement['outcome'], number>>>;
  readonly settlements: readonly Settlement[];
  readonly reason?: string;
}

/** Of a lock that is there for efficiency: ticks of jobs that should run once each. */
export interface Waste {
  readonly ticks: number;
  readonly runs: number;
  /** Ticks that ran more than once. */
  readonly double: number;
  /** Ticks between the first and the last run of a job that never ran. */
  readonly missed: number;
  readonly doubleRate: number;
  readonly missedRate: number;
}

/** In milliseconds, by nearest rank; null: there were none. */
export interface Quantiles {
  readonly count: number;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly max: number | null;
}

/** How a contended lock goes from hand to hand. */
export interface Handover {
  /** From the release to the grant of one who was waiting by then. */
  readonly latencyMillis: Quantiles;
  /** From the first try to the grant. */
  readonly waitMillis: Quantiles;
  readonly grantsPerClient: { readonly least: number; readonly most: number };
  /** 1: nobody asks in vain. A crowd that polls asks many times for each grant. */
  readonly triesPerGrant: number | null;
  /** Who was passed and by whom, as acquires; null: the recipe is no queue. */
  readonly queueJumps: {
    readonly count: number;
    readonly ops: readonly (readonly [number, number])[];
  } | null;
}

/** How hard it was tried (2.4). */
export interface Power {
  readonly grants: number;
  /** Grants to a process that had been waiting while another one held the lock. */
  readonly contendedHandoffs: number;
  readonly expiries: number;
  readonly faults: { readonly planned: number; readonly acted: number; readonly hitHold: number };
  /** Upper end of the 95 % interval of the rate of double grants per contended hand-off, if none was seen: 3/N. */
  readonly rateBound: number | null;
  /** Each says why a clean result would mean little; `decisive`: so little that the grade is `inconclusive`. */
  readonly warnings: readonly {
    readonly code: PowerCode;
    readonly message: string;
    readonly decisive: boolean;
  }[];
}

/** The object of `verdict.json` and of `lockpick check --json`. */
export interface Verdict {
  readonly schemaVersion: 1;
  readonly verdict: 'valid' | 'invalid' | 'unknown';
  readonly grade: Grade;
  /** What theory expects of this cell; null: the history is not of a catalogued cell. */
  readonly expected: Grade | null;
  readonly asExpected: boolean;
  readonly findings: readonly SafetyFinding[];
  readonly liveness: readonly LivenessFinding[];
  /** Each defence by itself. */
  readonly stores: readonly StoreResult[];
  /** What is counted and not judged. */
  readonly measures: { readonly waste?: Waste; readonly handover?: Handover };
  readonly power: Power;
  readonly checkers: readonly {
    readonly name: string;
    readonly verdict: 'valid' | 'invalid' | 'unknown';
    readonly millis: number;
    /** Of `unknown`: why. Of `invalid`: that there is more than the findings tell. */
    readonly reason?: string;
  }[];
  /** What differs from the expectation, in words; empty if `asExpected`. */
  readonly surprises: readonly string[];
  /** What a run answers, worst first (2.4): decides the exit code. */
  readonly outcome: 'violation' | 'threshold' | 'inconclusive' | 'ok';
  readonly [other: string]: Json | object | undefined;
}
