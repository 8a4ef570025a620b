// The golden histories: `histories/<rule>/good` must be found clean, `bad` must give exactly the findings that its header
// pins, no more and no fewer, judged by every rule there is. How to add one: README.md.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { grantsOf } from '../harness/history/grants.ts';
import { parseHistory } from '../harness/history/json-lines.ts';
import type { History } from '../harness/history/history.ts';
import { expiredGrant } from './expired-grant.ts';
import { lostUpdate } from './lost-update.ts';
import { mutualExclusion } from './mutual-exclusion.ts';
import { staleWrite } from './stale-write.ts';
import { storeFencing } from './store-fencing.ts';

const root = join(import.meta.dirname, 'histories');

interface Pinned {
  readonly code: string;
  readonly ops: readonly number[];
}

function findingsOf(history: History): Pinned[] {
  const grants = grantsOf(history);
  return [mutualExclusion, expiredGrant, storeFencing, staleWrite, lostUpdate].flatMap((rule) => {
    const result = rule(history, grants);
    if (result.verdict === 'unknown') throw new Error(result.reason);
    return result.verdict === 'valid' ? [] : result.findings.map(({ code, ops }) => ({ code, ops }));
  });
}

function read(file: string): History {
  return parseHistory(readFileSync(join(root, file), 'utf8'));
}

const files = globSync('*/{good,bad}/*.jsonl', { cwd: root }).toSorted();

describe('golden histories', () => {
  it.each(files.filter((file) => file.includes('/good/')))('%s', (file) => {
    expect(findingsOf(read(file))).toEqual([]);
  });

  it.each(files.filter((file) => file.includes('/bad/')))('%s', (file) => {
    const history = read(file);
    expect(
      findingsOf(history)
        .map((f) => JSON.stringify(f))
        .toSorted(),
    ).toEqual((history.header.meta['expect'] as Pinned[]).map((f) => JSON.stringify(f)).toSorted());
  });
});
