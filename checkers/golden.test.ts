// The golden histories: `histories/<rule>/good` must be found clean, `bad` must give exactly the findings that its header
// pins, no more and no fewer, judged by every rule there is. How to add one: README.md.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseHistory } from '../harness/history/json-lines.ts';
import { judge } from '../harness/judge.ts';

const root = join(import.meta.dirname, 'histories');
const RULES = [
  'duplicate-effect',
  'expired-grant',
  'foreign-release',
  'kinds',
  'late-loss-notice',
  'liveness',
  'lost-update',
  'mutual-exclusion',
  'oversold',
  'stale-write',
  'store-fencing',
  'tokens',
];

interface Pinned {
  readonly code: string;
  readonly ops: readonly number[];
}

function pinned({ code, ops }: Pinned): string {
  return `${code} ${ops.join(' ')}`;
}

function golden(kind: 'good' | 'bad'): string[] {
  return RULES.flatMap((rule) => globSync(`${rule}/${kind}/*.jsonl`, { cwd: root })).toSorted();
}

function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** What is found, what was expected, and what could not be told. */
function judged(file: string): { found: string[]; expected: string[]; unsure: string[]; about: unknown } {
  const history = parseHistory(textOf(file));
  const { meta } = history.header;
  const verdict = judge(history, null, () => 0);
  return {
    found: [...verdict.findings, ...verdict.liveness].map(pinned).toSorted(),
    expected: ((meta['expect'] ?? []) as Pinned[]).map(pinned).toSorted(),
    unsure: verdict.checkers.flatMap(({ reason }) => (reason === undefined ? [] : [reason])),
    about: meta['about'],
  };
}

describe('golden histories', () => {
  it.each(golden('good'))('%s', (file) => {
    expect(judged(file)).toEqual({ found: [], expected: [], unsure: [], about: expect.any(String) });
  });

  it.each(golden('bad'))('%s', (file) => {
    const { found, expected, unsure, about } = judged(file);
    expect(unsure).toEqual([]);
    expect(about).toEqual(expect.any(String));
    expect(expected.length).toBeGreaterThan(0);
    expect(found).toEqual(expected);
  });

  it.each(golden('good'))('%s has no finding of safety either if any one answer is lost', (file) => {
    const lines = textOf(file).trim().split('\n');
    for (const [index, line] of lines.entries()) {
      if (!line.startsWith('{"type":"ok"')) continue;
      const verdict = judge(parseHistory(lines.toSpliced(index, 1).join('\n')), null, () => 0);
      expect(verdict.findings.map(pinned), `without ${line}`).toEqual([]);
    }
  });

  it.each(RULES)('has three of each for %s', (rule) => {
    for (const kind of ['good', 'bad'] as const)
      expect(golden(kind).filter((file) => file.startsWith(`${rule}/`)).length).toBeGreaterThanOrEqual(3);
  });
});
