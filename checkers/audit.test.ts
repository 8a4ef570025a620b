// The store's record: pages put together, and every way in which it can contradict itself or the history.

import { describe, expect, it } from 'vitest';
import { registersOf, type Register } from './audit.ts';
import { historyOf, step, type Step } from './scenario.fixture.ts';

type Row = Readonly<Record<string, unknown>>;

function write(id: number, span: Step['span'], base: number, gets: Row = {}): Step {
  const asks = { store: 's', key: 'k', value: `v${id}`, base: String(base), token: '7' };
  return step(id, `c${id}`, 'write', span, asks, gets);
}

function row(seq: number, id: number, version: number, more: Row = {}): Row {
  return {
    seq: String(seq),
    id,
    process: `c${id}`,
    token: '7',
    base: String(version),
    version: String(version),
    value: `v${id}`,
    accepted: true,
    ...more,
  };
}

function page(id: number, span: Step['span'], rows: readonly Row[]): Step {
  return step(id, 'c0', 'read', span, { store: 's', key: 'k' }, { audit: rows });
}

function registerOf(steps: readonly Step[], header: Row = {}): Register {
  const [register] = registersOf(historyOf(steps, header));
  if (register === undefined) throw new Error('no register');
  return register;
}

function order(steps: readonly Step[]): number[] | undefined {
  return registerOf(steps).record?.map(({ write: { id } }) => id);
}

const writes = [write(1, [0, 10], 0), write(2, [20, 30], 1), write(3, [40, 50], 2)];
const rows = [row(9, 1, 0), row(10, 2, 1), row(101, 3, 2)];

describe('the record of a register', () => {
  it('is not there without a final read', () => {
    expect(registerOf(writes)).toMatchObject({ record: undefined, flaw: undefined });
  });

  it('is in the order of the store, compared as numbers', () => {
    expect(order([...writes, page(90, [100, 110], rows.toReversed())])).toEqual([1, 2, 3]);
  });

  it('is put together from pages that may overlap', () => {
    expect(
      order([
        ...writes,
        page(90, [100, 110], rows.slice(0, 2)),
        page(91, [120, 130], rows.slice(1)),
        page(92, [140, 150], []),
      ]),
    ).toEqual([1, 2, 3]);
  });

  it('keeps stores and keys apart', () => {
    const elsewhere = step(4, 'c4', 'write', [60, 70], { store: 's', key: 'k9', value: 'x' });
    expect(registersOf(historyOf([...writes, elsewhere])).map(({ key }) => key)).toEqual(['k', 'k9']);
  });

  it('bounds when an attempt took effect by its neighbours in the order of the store', () => {
    const late = write(1, [0], 0);
    const { record } = registerOf([
      write(2, [20, 30], 0),
      late,
      write(3, [40, 50], 2),
      page(90, [100, 110], [row(1, 2, 0), row(2, 1, 1, { base: '0' }), row(3, 3, 2)]),
    ]);
    expect(record?.map(({ behind, by }) => [behind.id, by / 1e6])).toEqual([
      [2, 30],
      [2, 50],
      [3, 50],
    ]);
    const crossed = registerOf([
      write(1, [0, 30], 0),
      write(2, [10, 20], 1),
      page(90, [100, 110], [row(1, 1, 0), row(2, 2, 1)]),
    ]).record;
    expect(crossed?.map(({ behind, by }) => [behind.id, by / 1e6])).toEqual([
      [1, 20],
      [2, 20],
    ]);
    const last = registerOf([late, page(90, [100, 110], [row(1, 1, 0)])]).record;
    expect(last?.map(({ by }) => by / 1e6)).toEqual([110]);
  });

  it('may lack a write that never reached the store', () => {
    const failed = write(4, [60, 70], 3, { type: 'fail', error: 'unavailable' });
    expect(order([...writes, failed, page(90, [100, 110], rows)])).toEqual([1, 2, 3]);
  });
});

describe('a flaw of the record', () => {
  it.each<[string, readonly Step[], RegExp]>([
    [
      'a row read twice that differs',
      [page(90, [100, 110], rows), page(91, [120, 130], [row(10, 2, 1, { accepted: false })])],
      /row 10 was read twice/,
    ],
    [
      'a gap',
      [page(90, [100, 110], [row(9, 1, 0), row(101, 3, 2)])],
      /missing before row 101: version 2 where 1/,
    ],
    [
      'a write accepted after the record was read',
      [page(90, [100, 110], rows), write(4, [120, 130], 3)],
      /op 4 was accepted and has no row/,
    ],
    ['a missing last row', [page(90, [100, 110], rows.slice(0, 2))], /op 3 was accepted and has no row/],
    ['a write that is not in the history', [page(90, [100, 110], [...rows, row(102, 77, 3)])], /op 77/],
    [
      'two rows of one write',
      [page(90, [100, 110], [...rows, row(102, 3, 3)])],
      /row 102 is of op 3, .* not twice/,
    ],
    ['another writer', [page(90, [100, 110], [row(9, 1, 0, { process: 'c8' })])], /written by c8, not c1/],
    ['another value', [page(90, [100, 110], [row(9, 1, 0, { value: 'x' })])], /value x, not v1/],
    ['another token', [page(90, [100, 110], [row(9, 1, 0, { token: '8' })])], /token 8, not 7/],
    ['no token', [page(90, [100, 110], [row(9, 1, 0, { token: null })])], /token none, not 7/],
    ['another base', [page(90, [100, 110], [row(9, 1, 3, { base: '2' })])], /base 2, not 0/],
    [
      'a version that is no number',
      [page(90, [100, 110], [row(9, 1, 0, { version: 'x' })])],
      /"x" is no decimal/,
    ],
    [
      'a number that is not written plainly',
      [page(90, [100, 110], [row(9, 1, 0, { version: '00' })])],
      /"00" is no decimal/,
    ],
    [
      'a refusal that the client was not told',
      [page(90, [100, 110], [row(9, 1, 0, { accepted: false })])],
      /refused/,
    ],
    ['an order against time', [page(90, [100, 110], [row(9, 2, 1), row(10, 1, 2, { base: '0' })])], /stamps/],
  ])('%s', (_, pages, flaw) => {
    const register = registerOf([...writes, ...pages]);
    expect(register.flaw).toMatch(flaw);
    expect(register.flaw).toMatch(/^the record of k in store s: /);
    expect(register.record).toBeUndefined();
  });

  it('a base above the version that was current', () => {
    const ahead = step(1, 'c1', 'write', [0, 10], { store: 's', key: 'k', value: 'v1', token: '7' });
    expect(registerOf([ahead, page(90, [100, 110], [row(9, 1, 0, { base: '1' })])]).flaw).toMatch(/above/);
  });

  it('a write accepted though its client was told that it never happens', () => {
    const refused = write(1, [0, 10], 0, { type: 'fail', error: 'stale-token' });
    expect(registerOf([refused, page(90, [100, 110], [row(9, 1, 0)])]).flaw).toMatch(/never happens/);
  });

  it('is not seen within the error of the clock', () => {
    const steps = [
      write(1, [0, 10], 1),
      write(2, [12, 30], 0),
      page(90, [100, 110], [row(1, 2, 0), row(2, 1, 1)]),
    ];
    expect(registerOf(steps, { clockErrorNanos: 999_999 }).flaw).toMatch(/stamps/);
    expect(registerOf(steps, { clockErrorNanos: 1_000_000 }).flaw).toBeUndefined();
  });
});
