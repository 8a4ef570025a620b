// `lockpick/check`: the checkers as a library, and what `lockpick check --model` answers. A history in any of the formats goes
// in, a verdict by one model comes out, explained. Pure: no file, no clock, nothing that has to be installed.

import { parseRecorded, type HistoryFormat, type Recorded } from '../harness/history/recorded.ts';
import { checkModel, type JudgedPartition, type ModelOptions } from './linearizable/check-model.ts';
import { Op } from '../harness/history/operation-columns.ts';
import { NEVER } from './linearizable/entries.ts';
import { explain } from './linearizable/explain.ts';
import type { Finding } from './verdict.ts';

/** Fields that the verdict of a run has as well (`verdict.ts`) mean the same there. */
export interface Checked {
  readonly schemaVersion: 1;
  /** `invalid` if any partition is; `unknown` if a budget ran out, or there was something not to be judged, or nothing. */
  readonly verdict: 'valid' | 'invalid' | 'unknown';
  /** Of each lock or key that is not linearizable, up to a hundred. */
  readonly findings: readonly Finding<'not-linearizable'>[];
  /** What was taken for granted to come to this verdict. */
  readonly model: {
    readonly name: string;
    readonly summary: string;
    readonly format: HistoryFormat;
    /** Of stores. */
    readonly initial?: string;
    /** Of locks. */
    readonly failedRelease?: string;
    readonly failedCas: string;
    /** Steps of the search, for each lock or key. */
    readonly budget: number;
  };
  /** The locks or keys, each judged by itself. */
  readonly partitions: readonly {
    /** '' if the history names none. */
    readonly name: string;
    readonly verdict: 'valid' | 'invalid' | 'unknown';
    readonly operations: number;
    /** Of the search; 0: there was no need of one. */
    readonly steps: number;
  }[];
  /** Why nobody can tell, what the findings do not tell, or why they may say little; each a clause. */
  readonly reasons: readonly string[];
}

/**
 * Judges the text of a history: ours (JSON lines), Jepsen's EDN, or the log and key-value lines of Porcupine's test suite.
 * Throws `HistoryError` with line and rule if it is malformed, `ModelError` if the model does not exist or does not fit.
 */
export function checkHistory(text: string, options: ModelOptions = {}): Checked {
  return checkRecorded(parseRecorded(text), options);
}

/** The same of a history that has been read. */
export function checkRecorded(recorded: Recorded, options: ModelOptions = {}): Checked {
  const result = checkModel(recorded, options);
  const { verdict, reading, catalogued, partitions, unjudged } = result;
  const { findings, omitted } = explain(recorded, result);
  return {
    schemaVersion: 1,
    verdict,
    findings,
    model: {
      name: reading.model,
      summary: catalogued.model.summary,
      format: recorded.format,
      ...(catalogued.of === 'lock' ? { failedRelease: reading.failedRelease } : { initial: reading.initial }),
      failedCas: reading.failedCas,
      budget: reading.steps,
    },
    partitions: partitions.map(({ name, entries, found }) => ({
      name,
      verdict: found.verdict,
      operations: entries.size,
      steps: found.steps,
    })),
    reasons: [
      ...partitions.flatMap((partition) => doubtOf(partition) ?? []),
      ...(unjudged.length > 0
        ? [
            `${unjudged.join(', ')}: not judged, because what a relative write leaves is not known to its client`,
          ]
        : []),
      ...(partitions.length + unjudged.length === 0
        ? [`the history has no operation that the model ${reading.model} judges`]
        : []),
      ...(omitted > 0 ? [`${omitted} more are not linearizable and not explained`] : []),
      ...(verdict === 'invalid' && catalogued.of === 'lock' && hasLeases(recorded) && reading.model !== LEASES
        ? [`the history has leases, and only ${LEASES} lets them run out`]
        : []),
    ],
  };
}

const LEASES = 'lease-mutex';

function hasLeases(recorded: Recorded): boolean {
  return (
    'history' in recorded &&
    recorded.history.columns.ttlMillis.some(
      (ttl, row) => Number.isFinite(ttl) && recorded.history.columns.op[row] === Op.acquire,
    )
  );
}

function doubtOf({ name, entries, found }: JudgedPartition): string | undefined {
  if (found.verdict !== 'unknown') return undefined;
  const { returned } = entries;
  const explained = returned.filter((stamp) => stamp < (returned[found.reached] ?? 0)).length;
  const known = returned.filter((stamp) => stamp !== NEVER).length;
  const subject = name === '' ? 'the search' : `the search of ${name}`;
  return `${subject} ran out of ${found.exhausted} after ${found.steps} steps, having explained ${explained} of ${known} returns`;
}
