// Histories that others published with their verdicts (registers, key-value stores, transactions over registers), judged by
// both: by lockpick here, by Porcupine from a file with the same entries. Of each history the best of a few tries counts, on
// both sides. They are not part of the project; `models.ts` is told where they are.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { modelNamed, type CataloguedModel } from '../checkers/linearizable/catalogue.ts';
import { decidePartition } from '../checkers/linearizable/decide.ts';
import { Kind, NEVER, type Entries, type StoreEntries } from '../checkers/linearizable/entries.ts';
import { SEARCH_LIMITS } from '../checkers/linearizable/search.ts';
import { storePartitionsOfCalls } from '../checkers/linearizable/store-calls.ts';
import { parseRecorded } from '../harness/history/recorded.ts';
import type { MeasuredFiles } from './table.ts';

/** A history is judged again until it took so long in all, but no more than `TRIES_MAX` times. */
const TRIES_MILLIS = 100;
const TRIES_MAX = 500;
/** Files on which Porcupine takes less of our time than this are named. */
const SLOW = 0.5;

interface Judged {
  readonly file: string;
  readonly verdict: string;
  readonly checkMillis: number;
}

/** `folder` holds `verdicts.tsv` and the files it names. */
export function measurePublic(
  folder: string,
  {
    porcupine,
    scratch,
    seconds,
  }: { readonly porcupine: string; readonly scratch: string; readonly seconds: string },
): MeasuredFiles {
  const lines = readFileSync(join(folder, 'verdicts.tsv'), 'utf8').trim().split('\n').slice(1);
  const ours: Judged[] = [];
  const asked: string[] = [];
  for (const line of lines) {
    const [file = '', words = ''] = line.split('\t');
    const [model = ''] = words.split(' ');
    const recorded = parseRecorded(readFileSync(join(folder, file), 'utf8'));
    if (!('calls' in recorded)) throw new Error(`${file} is a history of ours`);
    const initial = /initial (\w+)/.exec(words)?.[1] ?? (model === 'kv' ? '' : '0');
    const failedCas = words.includes('a failed cas is evidence') ? 'evidence' : 'ignored';
    const reading = { initial, failedCas } as const;
    const partitions = storePartitionsOfCalls(recorded.calls, reading);
    ours.push({ file, ...bestOf(() => verdictOf([...partitions.values()], modelNamed(model))) });
    const entries = [...partitions].flatMap(([key, partition]) => rowsOf(key, partition));
    asked.push(JSON.stringify({ file, model, initial, entries }));
  }
  const path = join(scratch, 'public.jsonl');
  writeFileSync(path, `${asked.join('\n')}\n`);
  const { stdout, stderr, status } = spawnSync(porcupine, [path, 'each', seconds], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`Porcupine failed on published histories: ${stderr}`);
  // One object a history, as `main.go` prints it.
  const theirs = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Judged);
  return summary(ours, theirs);
}

/** From operations in memory to the verdict, which is what Porcupine is timed for as well. */
function verdictOf(partitions: readonly StoreEntries[], catalogued: CataloguedModel): string {
  if (catalogued.of !== 'store') throw new Error(`${catalogued.model.name} judges locks`);
  const { model, decide } = catalogued;
  const verdicts = partitions.map(
    (entries) => decidePartition(entries, model, SEARCH_LIMITS, decide).verdict,
  );
  return (['invalid', 'unknown'] as const).find((verdict) => verdicts.includes(verdict)) ?? 'valid';
}

function summary(ours: readonly Judged[], theirs: readonly Judged[]): MeasuredFiles {
  const pairs = ours.flatMap((own, index) => {
    const their = theirs[index];
    return their === undefined ? [] : [{ own, their, ratio: their.checkMillis / own.checkMillis }];
  });
  const ratios = pairs.map(({ ratio }) => ratio).sort((a, b) => a - b);
  const total = (judged: readonly Judged[]): number =>
    Math.round(judged.reduce((sum, { checkMillis }) => sum + checkMillis, 0));
  for (const { own, their, ratio } of pairs)
    if (ratio < SLOW || own.verdict !== their.verdict)
      process.stderr.write(
        `${own.file}: ours ${own.verdict}, ${own.checkMillis.toFixed(3)} ms; ` +
          `Porcupine ${their.verdict}, ${their.checkMillis.toFixed(3)} ms\n`,
      );
  return {
    files: pairs.length,
    sameVerdict: pairs.filter(({ own, their }) => own.verdict === their.verdict).length,
    medianRatio: Math.round((ratios[ratios.length >> 1] ?? 0) * 100) / 100,
    lowestRatio: Math.round((ratios[0] ?? 0) * 100) / 100,
    oursMillis: total(ours),
    porcupineMillis: total(theirs),
  };
}

function bestOf(judge: () => string): { verdict: string; checkMillis: number } {
  let [best, spent, verdict] = [Infinity, 0, ''];
  for (let run = 0; run < TRIES_MAX && (run === 0 || spent < TRIES_MILLIS); run++) {
    const began = performance.now();
    verdict = judge();
    const millis = performance.now() - began;
    spent += millis;
    best = Math.min(best, millis);
  }
  return { verdict, checkMillis: best };
}

/** As `main.go` reads them. A read of unknown outcome claims nothing. */
function rowsOf(key: string, entries: StoreEntries): object[] {
  const { values, registers, transactions } = entries;
  const textOf = (value: number | undefined): string | null => values[value ?? -1] ?? null;
  return [...Array(entries.size).keys()]
    .filter((entry) => entries.kind[entry] !== Kind.read || entries.returned[entry] !== NEVER)
    .map((entry) => {
      const does = wordOf(entries, entry);
      const returned = entries.returned[entry] ?? NEVER;
      const value = entries.value[entry];
      return {
        does,
        key,
        invoked: entries.invoked[entry],
        returned: returned === NEVER ? null : returned,
        value: does === 'transaction' ? null : textOf(value),
        expected: textOf(entries.expected[entry]),
        steps:
          does === 'transaction'
            ? transactions[value ?? 0]?.map((step) => ({
                write: step.write,
                register: registers[step.register],
                value: textOf(step.value),
              }))
            : [],
      };
    });
}

function wordOf({ kind }: Entries, entry: number): string {
  return Object.entries(Kind).find(([, number]) => number === kind[entry])?.[0] ?? '';
}
