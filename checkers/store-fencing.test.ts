// The rule `stale-write-accepted`: what a fenced store must not do, and what only looks like it.

import { describe, expect, it } from 'vitest';
import { historyOf, step, type Step } from './scenario.fixture.ts';
import { defenceOf, storeFencing } from './store-fencing.ts';

const FULL = 'fence-on-read-and-write';

function write(id: number, span: Step['span'], token: string, more: Record<string, unknown> = {}): Step {
  const { store = FULL, base = '0', ...gets } = more;
  return step(id, `c${id}`, 'write', span, { store, key: 'k1', value: `v${id}`, base, token }, gets);
}

function read(id: number, span: Step['span'], token: string, more: Record<string, unknown> = {}): Step {
  const { store = FULL, ...gets } = more;
  return step(id, `c${id}`, 'read', span, { store, key: 'k1', token }, { value: 'v', ...gets });
}

/** The final read; `rows` are [id, token, base, version, accepted] in the store's order. */
function audit(
  rows: readonly (readonly [number, string, number, number, boolean?])[],
  { store = FULL, span = [900, 910] as const } = {},
): Step {
  const list = rows.map(([id, token, base, version, accepted = true], index) => ({
    seq: String(10 + 3 * index),
    id,
    process: `c${id}`,
    token,
    base: String(base),
    version: String(version),
    value: `v${id}`,
    accepted,
  }));
  return step(99, 'c0', 'read', span, { store, key: 'k1' }, { value: 'v', audit: list });
}

function found(steps: readonly Step[], header: Record<string, unknown> = {}): number[][] | string {
  const result = storeFencing(historyOf(steps, header));
  switch (result.verdict) {
    case 'valid':
      return [];
    case 'unknown':
      return result.reason;
    case 'invalid':
      return result.findings.map(({ ops }) => [...ops]);
  }
}

describe('stale-write-accepted, by operations', () => {
  it('finds a write with a lower token after one with a higher token', () => {
    expect(found([write(1, [0, 10], '8'), write(2, [20, 30], '7')])).toEqual([[1, 2]]);
  });

  it('takes an equal token for the same tenure', () => {
    expect(found([write(1, [0, 10], '8'), write(2, [20, 30], '8')])).toEqual([]);
  });

  it('says nothing of writes that overlap, or touch', () => {
    expect(found([write(1, [0, 20], '8'), write(2, [10, 30], '7')])).toEqual([]);
    expect(found([write(1, [0, 20], '8'), write(2, [20, 30], '7')])).toEqual([]);
  });

  it('says nothing of a completion order that differs from the order of effect', () => {
    expect(found([write(1, [0, 40], '7'), write(2, [10, 20], '8')])).toEqual([]);
  });

  it('compares with the highest token so far, not with the last one', () => {
    expect(found([write(1, [0, 10], '9'), write(2, [5, 15], '7'), write(3, [20, 30], '8')])).toEqual([
      [1, 3],
    ]);
  });

  it('says nothing of a refused write, or of one with unknown outcome', () => {
    expect(found([write(1, [0, 10], '8'), write(2, [20, 30], '7', { type: 'fail' })])).toEqual([]);
    expect(found([write(1, [0, 10], '8'), write(2, [20, 30], '7', { type: 'info' })])).toEqual([]);
    expect(found([write(1, [0, 10], '8', { type: 'info' }), write(2, [20, 30], '7')])).toEqual([]);
  });

  it('lets a read raise the mark of a fully fenced store only', () => {
    expect(found([read(1, [0, 10], '8'), write(2, [20, 30], '7')])).toEqual([[1, 2]]);
    expect(found([read(1, [0, 10], '8', { type: 'fail' }), write(2, [20, 30], '7')])).toEqual([]);
    const store = 'fence-on-write';
    expect(found([read(1, [0, 10], '8', { store }), write(2, [20, 30], '7', { store })])).toEqual([]);
    expect(found([write(1, [0, 10], '8', { store }), write(2, [20, 30], '7', { store })])).toEqual([[1, 2]]);
  });

  it('takes reads and writes together in order of time', () => {
    expect(found([write(1, [0, 10], '9'), write(3, [20, 30], '7'), read(2, [40, 50], '8')])).toEqual([
      [1, 3],
    ]);
  });

  it('does not judge a store that promises no fencing', () => {
    const store = 'none';
    expect(found([write(1, [0, 10], '8', { store }), write(2, [20, 30], '7', { store })])).toEqual([]);
  });

  it('keeps keys and stores apart', () => {
    expect(found([write(1, [0, 10], '8'), write(2, [20, 30], '7', { store: 'fence-on-write' })])).toEqual([]);
  });

  it('widens intervals by the error of the clock', () => {
    const steps = [write(1, [0, 10], '8'), write(2, [12, 30], '7')];
    expect(found(steps, { clockErrorNanos: 999_999 })).toEqual([[1, 2]]);
    expect(found(steps, { clockErrorNanos: 1_000_000 })).toEqual([]);
  });

  it('compares tokens as numbers', () => {
    expect(found([write(1, [0, 10], '10'), write(2, [20, 30], '9')])).toEqual([[1, 2]]);
    expect(found([write(1, [0, 10], '9'), write(2, [20, 30], '10')])).toEqual([]);
    expect(found([write(1, [0, 10], '9007199254740993'), write(2, [20, 30], '9007199254740992')])).toEqual([
      [1, 2],
    ]);
  });
});

describe('stale-write-accepted, by the record', () => {
  it('finds in the order of the store what overlapped in time', () => {
    expect(
      found([
        write(1, [0, 30], '8'),
        write(2, [10, 30], '7'),
        audit([
          [1, '8', 0, 0],
          [2, '7', 0, 1],
        ]),
      ]),
    ).toEqual([[1, 2]]);
  });

  it('says nothing where the store took the lower token first', () => {
    expect(
      found([
        write(1, [0, 30], '8'),
        write(2, [10, 30], '7'),
        audit([
          [2, '7', 0, 0],
          [1, '8', 0, 1],
        ]),
      ]),
    ).toEqual([]);
  });

  it('names the first write with the highest token', () => {
    expect(
      found([
        write(1, [0, 10], '8'),
        write(2, [20, 30], '8', { base: '1' }),
        write(3, [40, 50], '7', { base: '2' }),
        audit([
          [1, '8', 0, 0],
          [2, '8', 1, 1],
          [3, '7', 2, 2],
        ]),
      ]),
    ).toEqual([[1, 3]]);
  });

  it('finds an unanswered write that landed', () => {
    expect(
      found([
        write(1, [5, 30], '8'),
        write(2, [0, 20], '7', { type: 'info' }),
        audit([
          [1, '8', 0, 0],
          [2, '7', 0, 1],
        ]),
      ]),
    ).toEqual([[1, 2]]);
  });

  it('does not count refused rows, on either side', () => {
    expect(
      found([
        write(1, [0, 30], '8', { type: 'fail' }),
        write(2, [10, 30], '7'),
        write(3, [40, 50], '6', { type: 'fail', base: '1' }),
        audit([
          [1, '8', 0, 0, false],
          [2, '7', 0, 0],
          [3, '6', 1, 1, false],
        ]),
      ]),
    ).toEqual([]);
  });

  it('puts accepted reads beside it by time, also where only the record shows the late effect', () => {
    const rows = audit([
      [3, '7', 0, 0],
      [2, '7', 0, 1],
    ]);
    const late = write(2, [0, 60], '7', { type: 'info' });
    expect(found([late, read(1, [10, 20], '8'), write(3, [30, 40], '7'), rows])).toEqual([
      [1, 3],
      [1, 3, 2],
    ]);
    const early = audit([
      [2, '7', 0, 0],
      [3, '7', 0, 1],
    ]);
    expect(found([late, read(1, [10, 20], '8'), write(3, [30, 40], '7'), early])).toEqual([[1, 3]]);
  });

  it('is not sure of a store with a flawed record, but of what the clients know', () => {
    const flawed = audit([
      [1, '8', 0, 0],
      [2, '9', 0, 5],
    ]);
    expect(found([write(1, [0, 10], '8'), write(2, [20, 30], '9'), flawed])).toMatch(/rows are missing/);
    const alsoStale = [write(1, [0, 10], '8'), write(2, [20, 30], '9'), write(3, [40, 50], '7'), flawed];
    expect(found(alsoStale)).toEqual([[2, 3]]);
  });
});

describe('defenceOf', () => {
  it('goes by the history, else by the name', () => {
    expect(defenceOf('shelf', { stores: { shelf: 'none' } })).toBe('none');
    expect(defenceOf('shelf', { stores: { shelf: 'fenced' } })).toBe(FULL);
    expect(defenceOf('none', { stores: { none: 'fence-on-write' } })).toBe('fence-on-write');
    expect(defenceOf('none', {})).toBe('none');
    expect(defenceOf('unfenced', {})).toBe('none');
    expect(defenceOf('fenced', {})).toBe(FULL);
    expect(defenceOf(FULL, {})).toBe(FULL);
    expect(defenceOf('version-cas', {})).toBe('version-cas');
    expect(defenceOf('constructor', { stores: {} })).toBe('constructor');
  });
});
