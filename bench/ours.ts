// One history judged by lockpick in a process of its own: `node bench/ours.ts FILE JUDGED-BY` prints one JSON object. Times are
// processor times: of the first try in a fresh process, in which nothing is warm, and of the best of some more in the same
// process, when the engine has compiled what it runs.

import { checkModel } from '../checkers/linearizable/check-model.ts';
import { lockPartitions } from '../checkers/linearizable/lock-entries.ts';
import { ownedMutex } from '../checkers/linearizable/models/owned-mutex.ts';
import { search } from '../checkers/linearizable/search.ts';
import type { History } from '../harness/history/history.ts';
import { readJournal } from '../harness/history/journal.ts';
import { judge } from '../harness/judge.ts';

const [path = '', judgedBy = ''] = process.argv.slice(2);

/** A refused try proves that the lock was held; Porcupine is asked the same. */
const READING = { failedRelease: 'unknown', failedCas: 'evidence' } as const;

function verdictOf(history: History): string {
  if (judgedBy === 'rules') return judge(history, null, () => performance.now()).verdict;
  if (judgedBy !== 'search:owned-mutex')
    return checkModel({ format: 'lockpick-history', history }, { model: judgedBy, ...READING }).verdict;
  const verdicts = [
    ...lockPartitions(history, { ownedBy: 'attempt', leases: 'ignored', ...READING }).values(),
  ].map((entries) => search(entries, ownedMutex).verdict);
  return (['invalid', 'unknown'] as const).find((verdict) => verdicts.includes(verdict)) ?? 'valid';
}

/** Processor time so far, which other programs on the machine change little. */
function spentMillis(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** After the first try it is judged again until this is spent, but no more than `AGAIN_MAX` times. */
const AGAIN_MILLIS = 500;
const AGAIN_MAX = 200;

/** null: rules keep what they have found out about a history. */
function bestAgain(history: History): number | null {
  if (judgedBy === 'rules') return null;
  let [least, spent] = [Infinity, 0];
  for (let time = 0; time < AGAIN_MAX && spent < AGAIN_MILLIS; time++) {
    const began = spentMillis();
    verdictOf(history);
    const millis = spentMillis() - began;
    spent += millis;
    least = Math.min(least, millis);
  }
  return least;
}

const began = spentMillis();
const history = readJournal(path);
const read = spentMillis();
const verdict = verdictOf(history);
const judged = spentMillis();
const megabytes = Math.round(process.resourceUsage().maxRSS / 1024);
const result = {
  verdict,
  operations: history.columns.size,
  readMillis: read - began,
  checkMillis: judged - read,
  againMillis: bestAgain(history),
  megabytes,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
