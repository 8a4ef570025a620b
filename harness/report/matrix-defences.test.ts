// Which defences kept the data right, below the matrix and in the summary: only where one of them did not.

import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../checkers/verdict.ts';
import { defencesOf } from '../comparison/defences.ts';
import { defenceRows } from '../reporters/defence-rows.ts';
import { fakeRun } from '../testing/fake-run.ts';
import { matrixDefences } from './matrix-defences.ts';
import { matrixOf } from './matrix.ts';

const faulty = fakeRun();
/** Of its stores one was harmed; beside it one that was not. */
const harmed = {
  ...faulty,
  verdict: {
    ...faulty.verdict,
    stores: faulty.verdict.stores.flatMap((store) => [
      store,
      { ...store, name: 'row-lock', verdict: 'valid' as const, findings: {} },
    ]),
  },
};
const clean = fakeRun({ pauseEverySeconds: 0 });

function summary(cell: string, verdict: Verdict) {
  return { cell, defences: defencesOf([verdict]) };
}

describe('the defences below the matrix', () => {
  it('are in a row for each lock and fault of which one was harmed', () => {
    const text = matrixDefences(matrixOf([], [harmed, { ...harmed, name: 'again' }, clean])).markup;
    expect(text.match(/<tr>/g)).toHaveLength(2);
    expect(text).toContain('✖ harmed in 2 of 2');
    expect(text).toContain('✔ held');
  });

  it('are not there if all held', () => {
    expect(matrixDefences(matrixOf([], [clean])).markup).toBe('');
  });
});

describe('the defences in a summary', () => {
  it('are a table with a row for each cell of which one was harmed', () => {
    const rows = defenceRows([summary('clean', clean.verdict), summary('hurt', harmed.verdict)]);
    expect(rows.filter((row) => row.startsWith('| `'))).toEqual([
      expect.stringMatching(/^\| `hurt` \| ✖ harmed in 1 of 1: .*\| ✔ held \|$/),
    ]);
    const [head = '', rule = ''] = rows.filter((row) => row.startsWith('| '));
    expect(head.split('|')).toHaveLength(rule.split('|').length);
  });

  it('are left out if all held', () => {
    expect(defenceRows([summary('clean', clean.verdict)])).toEqual([]);
  });
});
