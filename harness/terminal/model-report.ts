// What `lockpick check` answers where a model judges: the object for `--json` and the words for people. The judging is
// `checkers/check.ts`; here is only how long it took, the exit code, and how it is said.

import { styleText } from 'node:util';
import { checkRecorded, type Checked } from '../../checkers/check.ts';
import type { ModelOptions } from '../../checkers/linearizable/check-model.ts';
import type { Verdict } from '../../checkers/verdict.ts';
import { EXIT_CODE } from '../contract/errors.ts';
import type { HistoryFormat, Recorded } from '../history/recorded.ts';
import { printable } from './printable.ts';

export type ModelReport = Omit<Checked, 'reasons'> & Pick<Verdict, 'checkers'>;

/** Throws as `checkRecorded` does. */
export function modelReport(recorded: Recorded, options: ModelOptions, nowMillis: () => number): ModelReport {
  const began = nowMillis();
  const { reasons, ...report } = checkRecorded(recorded, options);
  const checker = {
    name: report.model.name,
    verdict: report.verdict,
    millis: Math.round((nowMillis() - began) * 1e3) / 1e3,
    ...(reasons.length > 0 && { reason: reasons.join('; ') }),
  };
  return { ...report, checkers: [checker] };
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
  const taken = failedCas === 'ignored' ? 'ignored' : 'taken as evidence';
  const choices =
    failedRelease === undefined
      ? `initial value ${JSON.stringify(initial)}, failed cas ${taken}`
      : `failed releases read as ${failedRelease}, refused tries ${taken}`;
  return `lockpick: ${printable(path)} taken as ${FORMAT_WORDS[format]}; model ${name}: ${summary}; ${choices}\n`;
}

export function modelWords(path: string, report: ModelReport, stream: NodeJS.WriteStream): string {
  const { verdict, findings, partitions, checkers } = report;
  const headline = `${SHAPE[verdict]} ${verdict.toUpperCase()}  ${printable(path)}`;
  const operations = partitions.reduce((sum, partition) => sum + partition.operations, 0);
  const steps = partitions.reduce((sum, partition) => sum + partition.steps, 0);
  const searched = steps === 0 ? 'no search was needed' : `${steps} steps of search`;
  const lines = [
    styleText(['bold', COLOUR[verdict]], headline, { stream }),
    `  ${operations} operations of ${partitions.length} ${partitions.length === 1 ? 'lock or key' : 'locks or keys'}, ${searched}`,
    ...checkers.flatMap(({ reason }) => (reason === undefined ? [] : [`  ? ${printable(reason)}`])),
    ...findings
      .slice(0, STORIES_SHOWN)
      .map(({ code, story }) => `  ${styleText('bold', code, { stream })}: ${printable(story)}`),
    ...(findings.length > STORIES_SHOWN
      ? [`  and ${findings.length - STORIES_SHOWN} more; --json lists them`]
      : []),
  ];
  return `${lines.join('\n')}\n\n`;
}
