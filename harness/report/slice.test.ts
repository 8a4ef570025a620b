// The part of a history that a finding is taken along with says of the named operations all that the history says; and
// what is told of several holders counts them.

import { describe, expect, it } from 'vitest';
import { parseHistory } from '../history/json-lines.ts';
import { fakeRun } from '../testing/fake-run.ts';
import { headline, runViews, type RunView } from './run-view.ts';
import { sliceText } from './slice.ts';

const HEADER = { format: 'lockpick-history', version: 1, clock: 'shared', clockErrorNanos: 0, meta: {} };

function viewOf(events: readonly object[]): RunView {
  const history = parseHistory(`${[HEADER, ...events].map((line) => JSON.stringify(line)).join('\n')}\n`);
  const [view] = runViews([{ ...fakeRun(), history }]);
  if (view === undefined) throw new Error('a view for each run');
  return view;
}

const finding = (ops: readonly number[], processes: readonly string[]) =>
  ({
    id: 'f',
    code: 'belief-overlap',
    lock: 'k',
    processes,
    ops,
    at: parseHistory(`${JSON.stringify(HEADER)}\n`).end,
    faults: [],
    story: '',
    evidence: {},
  }) as const;

describe('a slice', () => {
  it('is a history that says of every operation what the whole one says', () => {
    const on = { process: 'c1', lock: 'k' };
    const written = {
      process: 'c1',
      op: 'write',
      store: 'none',
      key: 'k',
      token: '7',
      order: 'o1',
      value: '2',
    };
    const view = viewOf([
      {
        type: 'invoke',
        id: 1,
        time: 1,
        ...on,
        op: 'acquire',
        try: true,
        shared: true,
        ttlMillis: 9,
        owner: 'o',
      },
      { type: 'ok', id: 1, time: 2, process: 'c1', op: 'acquire', token: '7', validUntil: 99 },
      { type: 'invoke', id: 2, time: 3, ...on, op: 'renew', ttlMillis: 9 },
      { type: 'ok', id: 2, time: 4, process: 'c1', op: 'renew', validUntil: 101 },
      { type: 'invoke', id: 3, time: 5, process: 'c1', op: 'read', store: 'none', key: 'k', order: 'o1' },
      { type: 'ok', id: 3, time: 6, process: 'c1', op: 'read', value: '3', version: '4', applied: false },
      { type: 'invoke', id: 4, time: 7, ...written, base: '4', add: '-1' },
      { type: 'fail', id: 4, time: 8, process: 'c1', op: 'write', error: 'stale-token', highest: '8' },
      { type: 'invoke', id: 5, time: 9, ...written, op: 'cas', base: '4' },
      { type: 'ok', id: 5, time: 10, process: 'c1', op: 'cas', version: '5' },
      { type: 'invoke', id: 6, time: 11, ...on, op: 'release' },
      { type: 'ok', id: 6, time: 12, process: 'c1', op: 'release', released: true },
      { type: 'invoke', id: 7, time: 13, ...on, op: 'acquire' },
    ]);
    const { operations } = view.run.history;
    const ids = operations.map(({ id }) => id);
    expect(parseHistory(`${sliceText(view, finding(ids, ['c1']))}\n`).operations).toEqual(operations);
  });
});

/** From being granted the lock until giving it back, each event with its second. */
function held(id: number, from: number, until: number): readonly (readonly [number, object])[] {
  return [
    [from, { type: 'invoke', id, process: `c${id}`, op: 'acquire', lock: 'k' }],
    [from, { type: 'ok', id, process: `c${id}`, op: 'acquire' }],
    [until, { type: 'invoke', id: id + 10, process: `c${id}`, op: 'release', lock: 'k' }],
  ];
}

it('the headline counts the holders of a semaphore, and the time for which all of them believed', () => {
  const timed = [...held(1, 1, 9), ...held(2, 2, 8), ...held(3, 5, 7)].toSorted(([a], [b]) => a - b);
  const view = viewOf(timed.map(([seconds, event]) => ({ ...event, time: seconds * 1e9 })));
  const all = finding([1, 2, 3], ['c1', 'c2', 'c3']);
  expect(headline(view, all)).toBe('c1, c2 and c3 all believed they held k for 2.00 s');
  expect(headline(view, finding([1, 2], ['c1', 'c2']))).toBe(
    'c1 and c2 both believed they held k for 6.00 s',
  );
  expect(headline(view, { ...all, code: 'double-grant' })).toBe(
    'k was granted to 3 clients at once, c1, c2 and c3',
  );
});
