// A recorded run as a schedule again: the same nodes, the same times since the load began, within the time limit.

import { describe, expect, it } from 'vitest';
import { parseHistory } from '../history/json-lines.ts';
import type { History } from '../history/history.ts';
import { millis } from '../history/op.ts';
import { scheduleAsRecorded } from './recorded-schedule.ts';

function historyOf(...lines: readonly object[]): History {
  const header = { format: 'lockpick-history', version: 1 };
  const began = { type: 'invoke', id: 1, time: 2_000e6, process: 'c1', op: 'acquire', lock: 'k1' };
  return parseHistory([header, began, ...lines].map((line) => JSON.stringify(line)).join('\n'));
}

const fault = (
  id: string,
  from: number,
  until: number,
  targets: readonly string[],
  params = {},
): object[] => [
  { type: 'fault', phase: 'begin', id, time: from * 1e6, fault: 'pause', targets, params },
  { type: 'fault', phase: 'end', id, time: until * 1e6, fault: 'pause', targets },
];

describe('scheduleAsRecorded', () => {
  it('counts from the first invocation, and keeps nodes, duration and own parameters', () => {
    const params = { target: 'holder', durationMillis: 1500, freezer: true };
    const history = historyOf(...fault('f1', 2_700, 4_300, ['c3', 'r1'], params));
    expect(scheduleAsRecorded(history, millis(20_000))).toEqual({
      steps: [
        {
          kind: 'at',
          atMillis: 700,
          spec: {
            fault: 'pause',
            target: { kind: 'nodes', names: ['c3', 'r1'] },
            durationMillis: 1500,
            params: { freezer: true },
          },
        },
      ],
    });
  });

  it('takes how long it lasted where that was not planned, and ends with the load', () => {
    const { steps } = scheduleAsRecorded(
      historyOf(...fault('f1', 2_500, 2_600, ['c1']), ...fault('f2', 6_500, 9_900, ['c2'])),
      millis(5_000),
    );
    expect(steps).toMatchObject([
      { atMillis: 500, spec: { durationMillis: 100 } },
      { atMillis: 4_500, spec: { durationMillis: 500 } },
    ]);
    expect(steps[0]?.spec).not.toHaveProperty('params');
  });

  it('leaves out what hit nobody', () => {
    expect(scheduleAsRecorded(historyOf(...fault('f1', 2_500, 2_600, [])), millis(5_000)).steps).toEqual([]);
  });
});
