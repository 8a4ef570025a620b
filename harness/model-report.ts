// What `lockpick check --model` answers: a history judged by one model. The fields that it has in common with the verdict of
// a run (`checkers/verdict.ts`) have the same names and mean the same. Pure, but for the clock it is handed.

import { styleText } from 'node:util';
import { checkModel, type JudgedPartition, type ModelOptions } from '../checkers/linearizable/check-model.ts';
import { explain } from '../checkers/linearizable/explain.ts';
import type { Finding } from '../checkers/verdict.ts';
import { EXIT_CODE } from './contract/errors.ts';
import type { HistoryFormat, Recorded } from './history/recorded.ts';

export interface ModelReport {
  readonly schemaVersion: 1;
  readonly verdict: 'valid' | 'invalid' | 'unknown';
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
    readonly name: string;
    readonly verdict: 'valid' | 'invalid' | 'unknown';
    readonly operations: number;
    /** Of the search; 0: there was no need of one. */
    readonly steps: number;
  }[];
  readonly checkers: readonly {
    readonly name: string;
    readonly verdict: 'valid' | 'invalid' | 'unknown';
    readonly millis: number;
    /** Why it cannot tell, or that there is more than the findings tell. */
    readonly reason?: string;
  }[];
}

/** Throws as `checkModel` does. */
export function modelReport(recorded: Recorded, options: ModelOptions, nowMillis: () => number): ModelReport {
  const began = nowMillis();
  const result = checkModel(recorded, options);
  const { verdict, reading, catalogued, partitions } = result;
  const { findings, omitted } = explain(recorded, result);
  const reasons = [
    ...partitions.flatMap((partition) => doubtOf(partition) ?? []),
    ...(partitions.every(({ entries }) => entries.size === 0)
      ? [`the history has no operation that the model ${reading.model} judges`]
      : []),
    ...(omitted > 0 ? [`${omitted} more are not linearizable and not explained`] : []),
  ];
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
    checkers: [
      {
        name: reading.model,
        verdict,
        millis: Math.round((nowMillis() - began) * 1e3) / 1e3,
        ...(reasons.length > 0 && { reason: reasons.join('; ') }),
      },
    ],
  };
}

function doubtOf({ name, entries, found }: JudgedPartition): string | undefined {
  if (found.verdict !== 'unknown') return undefined;
  const reached = entries.returned.filter((stamp) => stamp < (entries.returned[found.reached] ?? 0)).length;
  const subject = name === '' ? 'the search' : `the search of ${name}`;
  const returned = entries.returned.filter((stamp) => stamp !== Infinity).length;
  return `${subject} ran out of ${found.exhausted} after ${found.steps} steps, having explained ${reached} of ${returned} returns`;
}

/** 1 invalid · 2 unknown · 0 valid. */
export function exitCodeOfModel({ verdict }: ModelReport): number {
  if (verdict === 'invalid') return EXIT_CODE.violation;
  return verdict === 'unknown' ? EXIT_CODE.inconclusive : EXIT_CODE.ok;
}

const FORMAT_WORDS: Readonly<Record<HistoryFormat, string>> = {
  'lockpick-history': 'a lockpick history',
  'jepsen-edn': "Jepsen's EDN",
  'porcupine-etcd': "the log of Jepsen's etcd test",
  'porcupine-kv': 'key-value lines as of Porcupine',
};
/** No status by colour alone. */
const SHAPE = { valid: '●', invalid: '✖', unknown: '?' } as const;
const COLOUR = { valid: 'green', invalid: 'red', unknown: 'magenta' } as const;
const STORIES_SHOWN = 3;

/** How the file was read and judged, one line: what a verdict would be worth nothing without. */
export function readingWords(path: string, { model }: ModelReport): string {
  const { name, summary, format, initial, failedRelease, failedCas } = model;
  const choices = [
    ...(initial === undefined ? [] : [`initial value ${JSON.stringify(initial)}`]),
    ...(failedRelease === undefined ? [] : [`failed releases read as ${failedRelease}`]),
    `failed ${failedRelease === undefined ? 'cas' : 'tries'} ${failedCas === 'ignored' ? 'ignored' : 'taken as evidence'}`,
  ];
  return `lockpick: ${path} taken as ${FORMAT_WORDS[format]}; model ${name}: ${summary}; ${choices.join(', ')}\n`;
}

export function modelWords(path: string, report: ModelReport, stream: NodeJS.WriteStream): string {
  const { verdict, findings, partitions, checkers } = report;
  const headline = `${SHAPE[verdict]} ${verdict.toUpperCase()}  ${path}`;
  const operations = partitions.reduce((sum, partition) => sum + partition.operations, 0);
  const steps = partitions.reduce((sum, partition) => sum + partition.steps, 0);
  const searched = steps === 0 ? 'no search was needed' : `${steps} steps of search`;
  const lines = [
    styleText(['bold', COLOUR[verdict]], headline, { stream }),
    `  ${operations} operations of ${partitions.length} ${partitions.length === 1 ? 'lock or key' : 'locks or keys'}, ${searched}`,
    ...checkers.flatMap(({ reason }) => (reason === undefined ? [] : [`  ? ${reason}`])),
    ...findings
      .slice(0, STORIES_SHOWN)
      .map(({ code, story }) => `  ${styleText('bold', code, { stream })}: ${story}`),
    ...(findings.length > STORIES_SHOWN
      ? [`  and ${findings.length - STORIES_SHOWN} more; --json lists them`]
      : []),
  ];
  return `${lines.join('\n')}\n\n`;
}
