// Each store graded by itself, what its record settles, and which harm a defence promises to prevent.

import { describe, expect, it } from 'vitest';
import { duplicateEffect } from './duplicate-effect.ts';
import { lostUpdate } from './lost-update.ts';
import { oversold } from './oversold.ts';
import { breaksAnyway, breaksPromise } from './promises.ts';
import { historyOf, step, type Step } from './scenario.fixture.ts';
import { storeResultsOf } from './store-results.ts';
import { SAFETY_CODES, type RuleResult, type SafetyFinding, type StoreResult } from './verdict.ts';
import type { History } from '../harness/history/history.ts';
import { nanos } from '../harness/history/op.ts';

type Row = readonly [id: number, base: number, value: string, accepted?: boolean];

function write(id: number, span: Step['span'], asks: Record<string, unknown>, gets = {}): Step {
  return step(id, `c${id}`, 'write', span, { store: 'none', key: 'k1', value: '1', ...asks }, gets);
}

/** The final read of k1; versions count the rows that were accepted before. */
function audit(rows: readonly Row[], gets: Record<string, unknown> = {}, store = 'none', id = 99): Step {
  let accepted = 0;
  const list = rows.map(([op, base, value, taken = true], index) => {
    const version = accepted;
    if (taken) accepted += 1;
    return {
      seq: String(index + 1),
      id: op,
      process: `c${op}`,
      base: String(base),
      version: String(version),
      value,
      accepted: taken,
    };
  });
  return step(id, 'c0', 'read', [900, 910], { store, key: 'k1' }, { audit: list, ...gets });
}

function resultsOf(history: History): readonly StoreResult[] {
  const rules = [lostUpdate(history), oversold(history), duplicateEffect(history)];
  return storeResultsOf(
    history,
    rules.flatMap((result): readonly SafetyFinding[] =>
      result.verdict === 'invalid' ? result.findings : [],
    ),
  );
}

function verdictOf(result: RuleResult): string {
  return result.verdict === 'unknown' ? result.reason : result.verdict;
}

const taking = (id: number, at: number): Step =>
  write(id, [at, at + 5], { value: '9', add: '-1', order: `o${id}` });

/** The record, with the order of each row. */
const ordered = (read: Step): Step => ({
  ...read,
  gets: {
    ...read.gets,
    audit: (read.gets['audit'] as { id: number }[]).map((row) => ({ ...row, order: `o${row.id}` })),
  },
});

const finding = (code: SafetyFinding['code'], store?: string): SafetyFinding => ({
  id: '',
  code,
  processes: [],
  ops: [],
  at: nanos(0),
  faults: [],
  story: '',
  evidence: {},
  ...(store !== undefined && { store }),
});

/** An unanswered order, sent again with this outcome. */
const sent = (type: string): History =>
  historyOf([
    write(1, [0], { order: '7' }),
    write(2, [20, 30], { order: '7' }, { type }),
    write(3, [40, 50], { order: '8' }),
  ]);

const unanswered = (id: number, at: number): Step => write(id, [at], { base: '0' });

describe('the result of a store', () => {
  it('is that of what was found in it, not in others', () => {
    const history = historyOf([
      write(1, [0, 10], { base: '0' }),
      write(2, [20, 30], { base: '0' }),
      write(3, [0, 10], { store: 'version-cas', base: '0' }),
      write(4, [20, 30], { store: 'version-cas', base: '0' }, { type: 'fail', error: 'version-conflict' }),
      audit([
        [1, 0, '1'],
        [2, 0, '1'],
      ]),
      audit(
        [
          [3, 0, '1'],
          [4, 0, '1', false],
        ],
        {},
        'version-cas',
        98,
      ),
    ]);
    expect(resultsOf(history)).toEqual([
      {
        name: 'none',
        verdict: 'invalid',
        findings: { 'lost-update': 1 },
        brokenPromises: [],
        writes: { accepted: 2, refused: 0, unanswered: 0 },
        settled: {},
        settlements: [],
      },
      {
        name: 'version-cas',
        verdict: 'valid',
        findings: {},
        brokenPromises: [],
        writes: { accepted: 1, refused: 1, unanswered: 0 },
        settled: {},
        settlements: [],
      },
    ]);
  });

  it('is unknown where nothing was written, or the record is flawed', () => {
    const nothing = historyOf([write(1, [0, 10], { base: '0' }, { type: 'fail' })]);
    expect(resultsOf(nothing)).toMatchObject([{ verdict: 'unknown', reason: 'no write was accepted' }]);
    const flawed = historyOf([write(1, [0, 10], { base: '0' }), audit([[1, 0, '7']])]);
    expect(resultsOf(flawed)).toMatchObject([
      { verdict: 'unknown', reason: expect.stringContaining('value 7') },
    ]);
    // What the store did with the others nobody knows.
    const unseen = historyOf([write(1, [0, 10], { base: '0' }), unanswered(2, 20)]);
    expect(resultsOf(unseen)).toMatchObject([{ verdict: 'unknown', reason: 'it left no record of k1' }]);
  });

  it('settles unanswered writes by the record, and by its seal those that it does not have', () => {
    const steps = [unanswered(1, 0), unanswered(2, 20), unanswered(3, 40), write(4, [60, 70], { base: '1' })];
    const rows: Row[] = [
      [1, 0, '1'],
      [2, 0, '1', false],
      [4, 1, '1'],
    ];
    const outcomes = (more: readonly Step[]): unknown =>
      resultsOf(historyOf([...steps, ...more]))[0]?.settlements.map(({ op, outcome }) => `${op} ${outcome}`);
    expect(outcomes([audit(rows, { sealed: true })])).toEqual(['1 landed', '2 refused', '3 never']);
    expect(outcomes([audit(rows)])).toEqual(['1 landed', '2 refused', '3 open']);
    // A seal says nothing of what is sent after it.
    const late = step(5, 'c5', 'write', [905], { store: 'none', key: 'k1', value: '1', base: '2' });
    const all = ['1 landed', '2 refused', '3 never', '5 open'];
    expect(outcomes([late, audit(rows, { sealed: true })])).toEqual(all);
    expect(outcomes([])).toEqual(['1 open', '2 open', '3 open']);
    expect(resultsOf(historyOf([...steps, audit(rows, { sealed: true })]))).toMatchObject([
      { writes: { accepted: 1, refused: 0, unanswered: 3 }, settled: { landed: 1, refused: 1, never: 1 } },
    ]);
  });
});

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
    const [row] = once.gets['audit'] as object[];
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
    const [row] = record.gets['audit'] as object[];
    const first = { seq: '0', id: 1, process: 'c1', base: '0', version: '0', value: '0', accepted: true };
    const rows = { ...record, gets: { ...record.gets, audit: [first, { ...row, version: '1' }] } };
    const result = oversold(historyOf([...steps, rows], { meta: { stock: '10' } }));
    expect(result.verdict === 'invalid' && result.findings[0].story).toContain('leaves -1 in stock');
  });
});

describe('a stock that is not what was counted', () => {
  const header = { meta: { stock: '2' } };
  const sale = (id: number, value: string): Step =>
    write(id, [id * 10, id * 10 + 5], { value, order: `o${id}` }, { order: `o${id}` });
  const filled = write(3, [30, 35], { value: '5' });
  const rows = (list: readonly Row[]): Step => {
    const read = ordered(audit(list));
    const kept = (read.gets['audit'] as { id: number }[]).map(({ id, ...row }) =>
      id === 3 ? { id, ...row, order: undefined } : { id, ...row },
    );
    return { ...read, gets: { audit: kept } };
  };
  const sold: Row[] = [
    [1, 0, '1'],
    [2, 1, '0'],
    [3, 2, '5'],
    [4, 3, '4'],
  ];

  it('is not oversold when it was filled again', () => {
    const steps = [sale(1, '1'), sale(2, '0'), filled, sale(4, '4')];
    expect(verdictOf(oversold(historyOf([...steps, rows(sold)], header)))).toBe('valid');
    expect(verdictOf(oversold(historyOf(steps, header)))).toContain('no record of k1');
    const tooMany = sale(5, '4');
    const result = oversold(historyOf([...steps, tooMany, rows([...sold, [5, 4, '4']])], header));
    expect(result).toMatchObject({ verdict: 'invalid', findings: [{ ops: [4, 5] }] });
  });

  it('is not known where the record begins later than the store', () => {
    const read = rows([[1, 5, '40']]);
    const [row] = read.gets['audit'] as object[];
    const later = { ...read, gets: { audit: [{ ...row, version: '5' }] } };
    expect(verdictOf(oversold(historyOf([sale(1, '40'), later], header)))).toBe('valid');
  });

  it('that is no number hides no other one', () => {
    const odd = [sale(1, 'many'), rows([[1, 0, 'many']])];
    expect(verdictOf(oversold(historyOf(odd, header)))).toContain('leaves "many", which is no number');
    const below = write(7, [10, 15], { store: 'two', value: '-1', order: 'o7' });
    const record = ordered(audit([[7, 0, '-1']], {}, 'two', 98));
    expect(verdictOf(oversold(historyOf([...odd, below, record], header)))).toBe('invalid');
  });
});

describe('without a record', () => {
  it('nobody knows whether an unanswered order took its unit', () => {
    const sale = write(1, [0], { base: '0', order: '7' });
    expect(verdictOf(oversold(historyOf([sale], { meta: { stock: '10' } })))).toContain('no record of k1');
    expect(verdictOf(oversold(historyOf([sale])))).toBe('valid');
    expect(verdictOf(duplicateEffect(historyOf([sale])))).toBe('valid');
  });

  it('nobody knows whether an order that was sent again was applied twice', () => {
    expect(verdictOf(duplicateEffect(sent('ok')))).toContain('sent again');
    expect(verdictOf(duplicateEffect(sent('fail')))).toBe('valid');
  });
});

describe('what a defence promises', () => {
  const HARM = ['lost-update', 'oversold', 'duplicate-effect'];

  it.each<[store: string, promised: readonly string[], anyway: boolean]>([
    ['none', [], false],
    ['fence-on-write', ['stale-write-accepted'], false],
    ['fence-on-read-and-write', ['stale-write-accepted', ...HARM], false],
    ['version-cas', HARM, true],
    ['row-lock', HARM, true],
    ['conditional-update', HARM, true],
    ['unique-constraint', HARM, true],
    ['serialized-queue', HARM, true],
    ['of somebody else', [], false],
  ])('%s', (store, promised, anyway) => {
    const broken = SAFETY_CODES.filter((code) => breaksPromise(finding(code, store), {}));
    expect(new Set(broken)).toEqual(new Set(promised));
    expect(SAFETY_CODES.filter((code) => breaksAnyway(finding(code, store), {}))).toEqual(
      anyway ? broken : [],
    );
    expect(breaksPromise(finding('oversold'), {})).toBe(false);
    expect(breaksPromise(finding('oversold', 'ledger'), { stores: { ledger: store } })).toBe(
      promised.includes('oversold'),
    );
  });
});
