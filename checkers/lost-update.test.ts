// The rule `lost-update`: by the store's record, by equal bases, and what is no loss.

import { describe, expect, it } from 'vitest';
import { lostUpdate } from './lost-update.ts';
import { historyOf, step, type Step } from './scenario.fixture.ts';

function write(
  id: number,
  span: Step['span'],
  base: string,
  value: string,
  gets: Record<string, unknown> = {},
  op = 'write',
): Step {
  return step(id, `c${id}`, op, span, { store: 'none', key: 'k1', value, base }, gets);
}

/** The final read; `rows` are [id, base, version, value, accepted] in the store's order. */
function audit(rows: readonly (readonly [number, number, number, string, boolean?])[]): Step {
  const list = rows.map(([id, base, version, value, accepted = true], index) => ({
    seq: String(index + 8),
    id,
    process: `c${id}`,
    base: String(base),
    version: String(version),
    value,
    accepted,
  }));
  return step(99, 'c0', 'read', [900, 910], { store: 'none', key: 'k1' }, { audit: list });
}

function found(steps: readonly Step[], header: Record<string, unknown> = {}): number[][] | string {
  const result = lostUpdate(historyOf(steps, header));
  switch (result.verdict) {
    case 'valid':
      return [];
    case 'unknown':
      return result.reason;
    case 'invalid':
      return result.findings.map(({ ops }) => [...ops]);
  }
}

describe('lost-update, by the record', () => {
  it('finds a write from a version that was not current, though every value looks right', () => {
    expect(
      found([
        write(1, [0, 10], '0', '1'),
        write(2, [20, 30], '0', '1'),
        audit([
          [1, 0, 0, '1'],
          [2, 0, 1, '1'],
        ]),
      ]),
    ).toEqual([[1, 2]]);
  });

  it('says nothing of a chain of versions', () => {
    expect(
      found([
        write(1, [0, 10], '0', '1'),
        write(2, [20, 30], '1', '2'),
        audit([
          [1, 0, 0, '1'],
          [2, 1, 1, '2'],
        ]),
      ]),
    ).toEqual([]);
  });

  it('does not count refused rows, on either side', () => {
    expect(
      found([
        write(1, [0, 10], '0', '1', { type: 'fail' }),
        write(2, [20, 30], '0', '1'),
        write(3, [40, 50], '0', '1', { type: 'fail' }),
        audit([
          [1, 0, 0, '1', false],
          [2, 0, 0, '1'],
          [3, 0, 1, '1', false],
        ]),
      ]),
    ).toEqual([]);
  });

  it('names what was overwritten, and only that', () => {
    const steps = [
      write(1, [0, 10], '0', 'a'),
      write(2, [20, 30], '1', 'b'),
      write(3, [40, 50], '2', 'c'),
      write(4, [60, 70], '1', 'd'),
      write(5, [80, 90], '4', 'e'),
      audit([
        [1, 0, 0, 'a'],
        [2, 1, 1, 'b'],
        [3, 2, 2, 'c'],
        [4, 1, 3, 'd'],
        [5, 4, 4, 'e'],
      ]),
    ];
    expect(found(steps)).toEqual([[2, 3, 4]]);
  });

  it('names the first of many, and counts them', () => {
    const writes = Array.from({ length: 20 }, (_, index) =>
      write(index + 1, [10 * index, 10 * index + 5], String(index), `v${index}`),
    );
    const result = lostUpdate(
      historyOf([
        ...writes,
        write(50, [500, 510], '0', 'x'),
        audit([
          ...writes.map((_, index) => [index + 1, index, index, `v${index}`] as const),
          [50, 0, 20, 'x'],
        ]),
      ]),
    );
    expect(result.verdict === 'invalid' && result.findings[0].ops).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 50]);
    expect(result.verdict === 'invalid' && result.findings[0].evidence['overwritten']).toBe('20');
  });

  it('finds the write that landed after its client had given up', () => {
    expect(
      found([
        write(1, [0, 10], '0', 'a', { type: 'info' }),
        write(2, [20, 30], '0', 'b'),
        audit([
          [2, 0, 0, 'b'],
          [1, 0, 1, 'a'],
        ]),
      ]),
    ).toEqual([[2, 1]]);
  });

  it('judges every overwriting write, since the record leaves no doubt about any', () => {
    expect(
      found([
        write(1, [0, 10], '0', 'a'),
        write(2, [20, 30], '0', 'b'),
        write(3, [40, 50], '1', 'c'),
        audit([
          [1, 0, 0, 'a'],
          [2, 0, 1, 'b'],
          [3, 1, 2, 'c'],
        ]),
      ]),
    ).toEqual([
      [1, 2],
      [2, 3],
    ]);
  });

  it('takes a store that was not new as it is', () => {
    expect(found([write(1, [0, 10], '41', 'a'), audit([[1, 41, 41, 'a']])])).toEqual([]);
    const behind = lostUpdate(historyOf([write(1, [0, 10], '40', 'a'), audit([[1, 40, 41, 'a']])]));
    expect(behind).toMatchObject({
      verdict: 'invalid',
      findings: [{ ops: [1], evidence: { overwritten: '1' } }],
    });
  });

  it('is not sure where the record is flawed, but goes by what the clients know', () => {
    const flawed = audit([[1, 0, 0, '1']]);
    expect(found([write(1, [0, 10], '0', '1'), write(2, [20, 30], '1', '2'), flawed])).toMatch(
      /op 2 was accepted and has no row/,
    );
    expect(found([write(1, [0, 10], '0', '1'), write(2, [20, 30], '0', '1'), flawed])).toEqual([[1, 2]]);
  });
});

describe('lost-update, without a record', () => {
  it('finds two accepted writes from one base', () => {
    expect(found([write(1, [0, 10], '0', '1'), write(2, [20, 30], '0', '1')])).toEqual([[1, 2]]);
    const crossed = [write(1, [0, 30], '0', '1'), write(2, [10, 20], '0', '1', {}, 'cas')];
    expect(lostUpdate(historyOf(crossed))).toMatchObject({ findings: [{ ops: [1, 2], at: 30e6 }] });
  });

  it('needs both to be accepted', () => {
    for (const type of ['fail', 'info']) {
      expect(found([write(1, [0, 10], '0', '1', { type }), write(2, [20, 30], '0', '1')])).toEqual([]);
      expect(found([write(1, [0, 10], '0', '1'), write(2, [20, 30], '0', '1', { type })])).toEqual([]);
    }
  });

  it('says nothing of writes without a base', () => {
    const asks = { store: 'none', key: 'k1', value: 'x' };
    expect(found([step(1, 'c1', 'write', [0, 10], asks), step(2, 'c2', 'write', [20, 30], asks)])).toEqual(
      [],
    );
  });

  it('reports the first pair of a register only', () => {
    const pairs = [
      write(1, [0, 10], '0', '1'),
      write(2, [20, 30], '0', '1'),
      write(3, [40, 50], '1', '2'),
      write(4, [60, 70], '1', '2'),
    ];
    expect(found(pairs)).toEqual([[1, 2]]);
    const other = step(5, 'c5', 'write', [80, 90], { store: 'none', key: 'k2', value: '1', base: '0' });
    expect(found([...pairs, other, { ...other, id: 6, process: 'c6' }])).toEqual([
      [1, 2],
      [5, 6],
    ]);
  });

  it('lets a value come back: 0 → 1 → 0 → 1 loses nothing', () => {
    const toggles = [write(1, [0, 10], '0', '1'), write(2, [20, 30], '1', '0'), write(3, [40, 50], '0', '1')];
    expect(found(toggles)).toEqual([]);
    const late = [
      write(1, [0, 10], '0', '1'),
      write(2, [5, 8], '1', '0', { type: 'info' }),
      write(3, [40, 50], '0', '1'),
    ];
    expect(found(late)).toEqual([]);
    const same = [write(1, [0, 10], '0', '0'), write(2, [20, 30], '0', '0')];
    expect(found(same)).toEqual([]);
  });

  it('knows when the value cannot have come back', () => {
    const pair = [write(1, [20, 30], '0', '1'), write(2, [40, 50], '0', '1')];
    expect(found([...pair, write(3, [0, 19], '9', '0')])).toEqual([[1, 2]]);
    expect(found([...pair, write(3, [0, 20], '9', '0')])).toEqual([]);
    expect(found([...pair, write(3, [0, 5], '9', '0', { type: 'info' })])).toEqual([]);
    expect(found([...pair, write(3, [0, 25], '9', '0'), write(4, [5, 8], '8', '0')])).toEqual([]);
    expect(found([...pair, write(3, [51, 60], '9', '0')])).toEqual([[1, 2]]);
    expect(found([...pair, write(3, [50, 60], '9', '0')])).toEqual([]);
    expect(found([...pair, write(3, [32, 35], '9', '0', { type: 'fail' })])).toEqual([[1, 2]]);
    const header = { clockErrorNanos: 500_000 };
    expect(found([...pair, write(3, [0, 19], '9', '0')], header)).toEqual([]);
    expect(found([...pair, write(3, [51, 60], '9', '0')], header)).toEqual([]);
    expect(found([...pair, write(3, [51.1, 60], '9', '0')], header)).toEqual([[1, 2]]);
  });

  it('takes bases for versions where the store reports versions', () => {
    expect(
      found([
        write(1, [0, 10], '0', '1', { version: '1' }),
        write(2, [20, 30], '1', '0', { version: '2' }),
        write(3, [40, 50], '0', '1', { version: '3' }),
      ]),
    ).toEqual([[1, 3]]);
  });
});
