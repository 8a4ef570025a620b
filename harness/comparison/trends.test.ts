// Cells over time: what counts as before, when something is called worse, and that chance alone is not.

import { describe, expect, it } from 'vitest';
import { pastRunOf, trendsOf, type PastRun } from './trends.ts';

function runs(
  cell: string,
  from: number,
  outcomes: readonly { readonly asExpected: boolean; readonly broke?: number }[],
): PastRun[] {
  return outcomes.map(({ asExpected, broke = 0 }, index) => ({
    run: `${cell} ${from + index}`,
    started: new Date(Date.UTC(2026, 0, 1, 0, from + index)).toISOString(),
    cell,
    simulated: false,
    asExpected,
    faults: { acted: 10, broke },
  }));
}

const fine = { asExpected: true };
const wrong = { asExpected: false };
const names = (list: readonly PastRun[]): ReadonlySet<string> => new Set(list.map(({ run }) => run));

describe('a trend', () => {
  it('has the runs of a cell before and now in order of time, and none of cells that are new or gone', () => {
    const before = runs('a/b/c', 0, [fine, wrong]);
    const now = runs('a/b/c', 2, [fine]);
    const fresh = runs('d/e/f', 3, [fine]);
    const gone = runs('g/h/i', 0, [fine]);
    const simulated = { ...runs('a/b/c', 9, [fine])[0], simulated: true };
    const past = [...now, ...before, ...fresh, ...gone, simulated].flatMap((run) => pastRunOf(run) ?? []);
    expect(trendsOf(past, names([...now, ...fresh]))).toEqual([
      { cell: 'a/b/c', simulated: false, before, now, worse: [] },
    ]);
  });

  it('says what is worse than chance explains', () => {
    const before = runs(
      'a/b/c',
      0,
      Array.from({ length: 40 }, () => fine),
    );
    const now = runs('a/b/c', 40, [wrong, wrong, wrong, fine]);
    expect(trendsOf([...before, ...now], names(now))[0]?.worse).toEqual([
      'as expected in 1 of 4 runs, before in 40 of 40',
    ]);
    const broken = runs('a/b/c', 40, [{ asExpected: true, broke: 6 }]);
    expect(trendsOf([...before, ...broken], names(broken))[0]?.worse).toEqual([
      'a rule was broken under 6 of 10 faults, before in 0 of 400',
    ]);
  });

  it('calls neither what may be chance nor what is better worse', () => {
    const before = runs('a/b/c', 0, [fine, fine, fine, wrong]);
    const now = runs('a/b/c', 4, [wrong]);
    expect(trendsOf([...before, ...now], names(now))[0]?.worse).toEqual([]);
    const bad = runs(
      'a/b/c',
      0,
      Array.from({ length: 40 }, () => ({ asExpected: false, broke: 9 })),
    );
    const good = runs(
      'a/b/c',
      40,
      Array.from({ length: 40 }, () => fine),
    );
    expect(trendsOf([...bad, ...good], names(good))[0]?.worse).toEqual([]);
  });

  it('asks for more the more cells there are', () => {
    const past = [
      ...runs(
        'a/b/c',
        0,
        Array.from({ length: 40 }, () => fine),
      ),
      ...runs('a/b/c', 40, [wrong, wrong]),
    ];
    expect(trendsOf(past, new Set(['a/b/c 40', 'a/b/c 41']))[0]?.worse).toHaveLength(1);
    const others = Array.from({ length: 20 }, (_, index) => runs(`o/${index}/x`, 0, [fine, fine])).flat();
    const all = [...past, ...others];
    const now = new Set([
      'a/b/c 40',
      'a/b/c 41',
      ...others.map(({ run }) => run).filter((run) => run.endsWith(' 1')),
    ]);
    expect(trendsOf(all, now).find(({ cell }) => cell === 'a/b/c')?.worse).toEqual([]);
  });

  it('passes over lines that are none', () => {
    expect(pastRunOf({ run: 'x' })).toBeUndefined();
    // Of an older version.
    const old = {
      run: 'x',
      started: '2026',
      cell: 'a/b/c',
      seed: '1',
      verdict: 'valid',
      grade: 'safe',
      asExpected: true,
      findings: '',
    };
    expect(pastRunOf(old)).toEqual({
      run: 'x',
      started: '2026',
      cell: 'a/b/c',
      simulated: false,
      asExpected: true,
    });
  });
});
