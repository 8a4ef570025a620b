// Orders that add to what is there and take from a stock: what sells too much, what is applied twice, and what nobody can
// know without the store's own record.

import { describe, expect, it } from 'vitest';
import { duplicateEffect } from './duplicate-effect.ts';
import { lostUpdate } from './lost-update.ts';
import { oversold } from './oversold.ts';
import { historyOf, type Step } from './scenario.fixture.ts';
import { audit, ordered, verdictOf, write, type Row } from './store-record.fixture.ts';
import type { History } from '../harness/history/history.ts';

const taking = (id: number, at: number): Step =>
  write(id, [at, at + 5], { value: '9', add: '-1', order: `o${id}` });

/** An unanswered order, sent again with this outcome. */
const sent = (type: string): History =>
  historyOf([
    write(1, [0], { order: '7' }),
    write(2, [20, 30], { order: '7' }, { type }),
    write(3, [40, 50], { order: '8' }),
  ]);

describe('a relative write', () => {
  const header = { meta: { stock: '10' } };

  it('may leave another value than its sender expected, but not another sum', () => {
    const right = historyOf(
      [
        taking(1, 0),
        taking(2, 1),
        ordered(
          audit([
            [1, 0, '9'],
            [2, 1, '8'],
          ]),
        ),
      ],
      header,
    );
    expect(verdictOf(oversold(right))).toBe('valid');
    expect(verdictOf(lostUpdate(right))).toBe('valid');
    const wrong = historyOf(
      [
        taking(1, 0),
        taking(2, 1),
        ordered(
          audit([
            [1, 0, '9'],
            [2, 1, '7'],
          ]),
        ),
      ],
      header,
    );
    expect(verdictOf(oversold(wrong))).toContain('adds -1 to 9 and leaves 7');
  });

  it('overwrites nothing, whatever its sender had seen', () => {
    const steps = [1, 2].map((id) => write(id, [id * 10, id * 10 + 5], { value: '9', base: '0', add: '-1' }));
    expect(verdictOf(lostUpdate(historyOf(steps)))).toBe('valid');
    const record = audit([
      [1, 0, '9'],
      [2, 1, '8'],
    ]);
    expect(verdictOf(lostUpdate(historyOf([...steps, record])))).toBe('valid');
  });

  it('has one order, however often the record is read', () => {
    const once = ordered(audit([[1, 0, '9']]));
    const [row] = once.gets.audit;
    const again = { ...once, id: 98, gets: { audit: [{ ...row, order: 'o2' }] } };
    const history = historyOf([taking(1, 0), once, again], header);
    expect(verdictOf(oversold(history))).toContain('was read twice and differs');
  });

  it('has its order in the record', () => {
    const wrong = historyOf([taking(1, 0), audit([[1, 0, '9']])], header);
    expect(verdictOf(oversold(wrong))).toContain('order none, not o1');
  });
});

describe('a stock', () => {
  it('is oversold below zero, though few have been sold', () => {
    const steps = [
      write(1, [0, 5], { value: '0', base: '0' }),
      write(2, [10, 15], { value: '-1', base: '1', order: 'o2' }),
    ];
    const record = ordered(audit([[2, 1, '-1']]));
    const [row] = record.gets.audit;
    const first = { seq: '0', id: 1, process: 'c1', base: '0', version: '0', value: '0', accepted: true };
    const rows = { ...record, gets: { ...record.gets, audit: [first, { ...row, version: '1' }] } };
    const result = oversold(historyOf([...steps, rows], { meta: { stock: '10' } }));
    expect(result.verdict === 'invalid' && result.findings[0].story).toContain('leaves -1 in stock');
  });
});

function sale(id: number, value: string): Step {
  return write(id, [id * 10, id * 10 + 5], { value, order: `o${id}` }, { order: `o${id}` });
}

/** The record of sales; the third row is none. */
function sales(list: readonly Row[]): ReturnType<typeof audit> {
  const read = ordered(audit(list));
  const kept = read.gets.audit.map((row) => (row.id === 3 ? { ...row, order: undefined } : row));
  return { ...read, gets: { audit: kept } };
}

describe('a stock that is not what was counted', () => {
  const header = { meta: { stock: '2' } };
  const filled = write(3, [30, 35], { value: '5' });
  const sold: Row[] = [
    [1, 0, '1'],
    [2, 1, '0'],
    [3, 2, '5'],
    [4, 3, '4'],
  ];

  it('is not oversold when it was filled again', () => {
    const steps = [sale(1, '1'), sale(2, '0'), filled, sale(4, '4')];
    expect(verdictOf(oversold(historyOf([...steps, sales(sold)], header)))).toBe('valid');
    expect(verdictOf(oversold(historyOf(steps, header)))).toContain('no record of k1');
    const tooMany = sale(5, '4');
    const result = oversold(historyOf([...steps, tooMany, sales([...sold, [5, 4, '4']])], header));
    expect(result).toMatchObject({ verdict: 'invalid', findings: [{ ops: [4, 5] }] });
  });

  it('is not known where the record begins later than the store', () => {
    const read = sales([[1, 5, '40']]);
    const [row] = read.gets.audit;
    const later = { ...read, gets: { audit: [{ ...row, version: '5' }] } };
    expect(verdictOf(oversold(historyOf([sale(1, '40'), later], header)))).toBe('valid');
  });

  it('that is no number hides no other one', () => {
    const odd = [sale(1, 'many'), sales([[1, 0, 'many']])];
    expect(verdictOf(oversold(historyOf(odd, header)))).toContain('leaves "many", which is no number');
    const below = write(7, [10, 15], { store: 'two', value: '-1', order: 'o7' });
    const record = ordered(audit([[7, 0, '-1']], {}, 'two', 98));
    expect(verdictOf(oversold(historyOf([...odd, below, record], header)))).toBe('invalid');
  });
});

describe('without a record', () => {
  it('nobody knows whether an unanswered order took its unit', () => {
    const order = write(1, [0], { base: '0', order: '7' });
    expect(verdictOf(oversold(historyOf([order], { meta: { stock: '10' } })))).toContain('no record of k1');
    expect(verdictOf(oversold(historyOf([order])))).toBe('valid');
    expect(verdictOf(duplicateEffect(historyOf([order])))).toBe('valid');
  });

  it('nobody knows whether an order that was sent again was applied twice', () => {
    expect(verdictOf(duplicateEffect(sent('ok')))).toContain('sent again');
    expect(verdictOf(duplicateEffect(sent('fail')))).toBe('valid');
  });
});
