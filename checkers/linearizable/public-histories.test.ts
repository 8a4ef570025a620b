// Public histories with known verdicts, from the suites of Knossos and Porcupine. They are not part of the project: where
// the folder is missing the test is skipped, and counted as such.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseEdnHistory } from '../../harness/history/edn.ts';
import { parseEtcdLog } from '../../harness/history/porcupine-log.ts';
import { kv } from './models/kv.ts';
import { multiRegister } from './models/multi-register.ts';
import { casRegister } from './models/register.ts';
import { search } from './search.ts';
import { storePartitionsOfCalls } from './store-calls.ts';

const folder = join(import.meta.dirname, '../../../shared/histories');
const table = join(folder, 'verdicts.tsv');
const rows = existsSync(table)
  ? readFileSync(table, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split('\t'))
  : [];

function judged(file: string, modelName: string): { verdict: string; at: number | undefined } {
  const text = readFileSync(join(folder, file), 'utf8');
  const isLog = file.endsWith('.log');
  const history = isLog ? parseEtcdLog(text) : parseEdnHistory(text);
  const model = modelName.startsWith('kv')
    ? kv
    : modelName.startsWith('multi-register')
      ? multiRegister
      : casRegister;
  const initial = model === kv ? '' : isLog ? 'nil' : '0';
  const failedCas = isLog ? 'evidence' : 'ignored';
  for (const entries of storePartitionsOfCalls(history, { initial, failedCas }).values()) {
    const found = search(entries, model);
    if (found.verdict === 'valid') continue;
    if (found.verdict === 'unknown') return { verdict: 'unknown', at: undefined };
    const call = history.calls[entries.id[found.refutation().refuted] ?? 0];
    return { verdict: 'invalid', at: call?.returned };
  }
  return { verdict: 'valid', at: undefined };
}

describe('public histories', () => {
  it.skipIf(rows.length === 0)('are here', () => {
    expect(rows.length).toBeGreaterThan(100);
  });

  it.each(rows)('%s, %s: %s %s', (file = '', model = '', verdict = '', blamed = '') => {
    const found = judged(file, model);
    expect(found.verdict).toBe(verdict);
    const [, index] = /index (\d+)/.exec(blamed) ?? [];
    expect(found.at).toBe(index === undefined ? found.at : Number(index));
  });
});
