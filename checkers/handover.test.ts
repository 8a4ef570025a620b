// How a contended lock goes from hand to hand: latency, waits, the crowd, and queues that are none.

import { describe, expect, it } from 'vitest';
import { grantColumnsOf } from '../harness/history/grants.ts';
import { handoverOf } from './handover.ts';
import { granted, historyOf, released, step, type Step } from './scenario.fixture.ts';
import type { Handover } from './verdict.ts';

function busy(id: number, process: string, span: Step['span']): Step {
  return step(id, process, 'acquire', span, { lock: 'k1', ttlMillis: 1000 }, { type: 'fail', error: 'busy' });
}

function handover(
  steps: readonly Step[],
  meta: Record<string, unknown> = {},
  more: readonly Record<string, unknown>[] = [],
): Handover {
  const history = historyOf(steps, { meta: { workload: 'handover', ...meta } }, more);
  const measured = handoverOf(history, grantColumnsOf(history));
  if (measured === undefined) throw new Error('not measured');
  return measured;
}

/** c1 and c2 take places 1 and 2; `first` says when c1 learns of its grant, c2 is granted from 50 to 60 ms. */
function queue(first: Step['span'], second = '2'): Step[] {
  return [
    granted(1, 'c1', first, { token: '1' }),
    granted(2, 'c2', [5, 50], { token: second }),
    released(3, 'c2', [60, 61]),
    released(4, 'c1', [90, 91]),
  ];
}

describe('a hand-over', () => {
  it('lasts from the release to the grant of one who was waiting', () => {
    const { latencyMillis, waitMillis, triesPerGrant } = handover([
      granted(1, 'c1', [0, 10]),
      busy(2, 'c2', [12, 14]),
      busy(3, 'c2', [20, 22]),
      released(4, 'c1', [30, 31]),
      granted(5, 'c2', [32, 36]),
      released(6, 'c2', [40, 41]),
      // Nobody waited for these.
      granted(7, 'c1', [70, 71]),
      released(8, 'c1', [72, 73]),
      granted(9, 'c2', [90, 91]),
    ]);
    expect(latencyMillis).toEqual({ count: 1, p50: 6, p99: 6, max: 6 });
    expect(waitMillis).toEqual({ count: 4, p50: 1, p99: 24, max: 24 });
    expect(triesPerGrant).toBe(6 / 4);
  });

  it('is fair if every client gets its share; a restarted one is the same client', () => {
    const { grantsPerClient } = handover([
      granted(1, 'c1', [0, 1]),
      released(2, 'c1', [2, 3]),
      granted(3, 'c2', [4, 5]),
      released(4, 'c2', [6, 7]),
      granted(5, 'c1.2', [8, 9]),
    ]);
    expect(grantsPerClient).toEqual({ least: 1, most: 2 });
  });

  it('is of nothing where there was no grant, and of no other workload', () => {
    expect(handover([busy(1, 'c1', [0, 1])])).toEqual({
      latencyMillis: { count: 0, p50: null, p99: null, max: null },
      waitMillis: { count: 0, p50: null, p99: null, max: null },
      grantsPerClient: { least: 0, most: 0 },
      triesPerGrant: null,
      queueJumps: null,
    });
    const other = historyOf([granted(1, 'c1', [0, 1])], { meta: { workload: 'mutex' } });
    expect(handoverOf(other, grantColumnsOf(other))).toBeUndefined();
  });
});

describe('a queue', () => {
  const fifo = { fifo: true };

  it('is jumped by who is granted first and has the later place', () => {
    expect(handover(queue([0, 80]), fifo).queueJumps).toEqual({ count: 1, ops: [[2, 1]] });
  });

  it.each<[what: string, steps: readonly Step[], meta: Record<string, unknown>, expected: unknown]>([
    ['the one before was granted first', queue([0, 40]), fifo, { count: 0, ops: [] }],
    ['both were answered at one time', queue([0, 50]), fifo, { count: 0, ops: [] }],
    ['one asked after the other had been granted', queue([55, 80]), fifo, { count: 0, ops: [] }],
    ['the places say otherwise', queue([0, 80], '0'), fifo, { count: 0, ops: [] }],
    ['the recipe is no queue', queue([0, 80]), {}, null],
  ])('is not jumped if %s', (_, steps, meta, expected) => {
    expect(handover(steps, meta).queueJumps).toEqual(expected);
  });

  it('is not said to be jumped where a fault may have taken the place away', () => {
    const fault = [
      { type: 'fault', phase: 'begin', id: 'f1', fault: 'pause', targets: ['c1'], time: 20 },
      { type: 'fault', phase: 'end', id: 'f1', fault: 'pause', targets: ['c1'], time: 70 },
    ];
    expect(handover(queue([0, 80]), fifo, fault).queueJumps).toEqual({ count: 0, ops: [] });
  });

  it('is not said to be jumped within the error of the clock', () => {
    const history = historyOf(queue([0, 80]), {
      clockErrorNanos: 20e6,
      meta: { workload: 'handover', ...fifo },
    });
    expect(handoverOf(history, grantColumnsOf(history))?.queueJumps?.count).toBe(0);
  });
});
