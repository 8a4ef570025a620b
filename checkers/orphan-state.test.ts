// `orphan-state`: two refusals, a TTL and the slack apart, when nobody may have held the lock; and all that takes the proof
// away.

import { describe, expect, it } from 'vitest';
import { grantColumnsOf } from '../harness/history/grants.ts';
import { orphanState } from './orphan-state.ts';
import { granted, historyOf, released, step, type Step } from './scenario.fixture.ts';
import type { RuleResult } from './verdict.ts';

type Fields = NonNullable<Parameters<typeof historyOf>[2]>;

function judged(steps: readonly Step[], header: Fields[number] = {}, more: Fields = []): RuleResult {
  const history = historyOf(steps, header, more);
  return orphanState(history, grantColumnsOf(history));
}

function found(...asked: Parameters<typeof judged>): string[] {
  const result = judged(...asked);
  return result.verdict === 'invalid'
    ? result.findings.map(({ code, ops }) => `${code} ${ops.join(' ')}`)
    : [];
}

/** An attempt on k1 by c2 that was answered after 10 ms. */
function attempt(id: number, at: number, gets: Step['gets'] = { type: 'fail', error: 'busy' }): Step {
  return step(id, 'c2', 'acquire', [at, at + 10], { lock: 'k1', try: true, ttlMillis: 1000 }, gets);
}

const held = [granted(1, 'c1', [0, 10]), released(2, 'c1', [100, 110])];
/** Two refusals, and a grant long after them. Every lease is over at 1010 ms. */
function refusedAt(first: number, last: number): Step[] {
  return [...held, attempt(3, first), attempt(4, last), attempt(5, 9000, {})];
}

/** Of a server; without an end it goes on. */
function fault(begin: number, end?: number): Fields {
  const of = { type: 'fault', id: 'f1', fault: 'pause', targets: ['r1'] };
  return [
    { ...of, phase: 'begin', time: begin },
    ...(end === undefined ? [] : [{ ...of, phase: 'end', time: end }]),
  ];
}

/** Every lease is over at 1010 ms; the first refusal is at 1100 ms, so it is due at 3100 ms. */
const blocked = [...held, attempt(3, 1100), attempt(4, 3100), attempt(5, 4000, {})];

describe('orphan-state', () => {
  it('is a lock that is refused to everybody for longer than any lease, and had later', () => {
    expect(judged(blocked)).toMatchObject({
      verdict: 'invalid',
      findings: [
        {
          code: 'orphan-state',
          lock: 'k1',
          processes: ['c1', 'c2'],
          ops: [1, 3, 4, 5],
          at: 3110e6,
          faults: [],
          story:
            "The last lease on k1 that anybody may have had, by c1's acquire (op 1, ok) at 0.000 s, was over by 1.010 s. " +
            'Still c2 was told at 1.110 s that it was busy (op 3), and so was everybody who asked, 2 times, to 3.110 s (op 4); ' +
            'it was due at 3.100 s. c2 was granted it at 4.010 s (op 5): until then something was left that no client owned.',
        },
      ],
    });
  });

  it('asks for a TTL and the slack between the two', () => {
    expect(found(refusedAt(1100, 3099))).toEqual([]);
    expect(found(refusedAt(1100, 3100))).toEqual(['orphan-state 1 3 4 5']);
    expect(found(refusedAt(1100, 3100), { meta: { slackMillis: 1001 } })).toEqual([]);
  });

  it('is none where the lock is never had again: that is stuck', () => {
    expect(found(blocked.slice(0, -1))).toEqual([]);
  });

  it('is none of a lock that was only asked for at moments in which others asked too', () => {
    const other = step(9, 'c3', 'acquire', [2195, 2215], { lock: 'k1', try: true, ttlMillis: 1000 });
    expect(found([...held, attempt(3, 1100), attempt(4, 3100), other, attempt(5, 9000, {})])).toEqual([]);
    expect(found([...held, attempt(4, 9000), attempt(5, 9100, {})])).toEqual([]);
  });

  it.each<[what: string, steps: readonly Step[]]>([
    ['a grant', [granted(7, 'c3', [1500, 1510])]],
    ['an acquire of unknown outcome', [granted(7, 'c3', [1500, 1600], { type: 'info', error: 'timeout' })]],
    ['one that is still under way', [step(7, 'c3', 'acquire', [1500], { lock: 'k1', ttlMillis: 1000 })]],
    ['a renewal', [step(7, 'c1', 'renew', [1500, 1510], { lock: 'k1', ttlMillis: 1000 })]],
    ['one that is granted in the end', [granted(7, 'c3', [1500, 4000])]],
  ])('is none if in between there was %s', (_, steps) => {
    const quiet = refusedAt(1100, 3100);
    expect(found(quiet)).toHaveLength(1);
    expect(found([...quiet, ...steps])).toEqual([]);
  });

  it('does not go by what a fault may have held up', () => {
    const quiet = refusedAt(1100, 3100);
    expect(found(quiet, {}, fault(500, 1000))).toHaveLength(1);
    expect(found(quiet, {}, fault(500, 1200))).toEqual([]);
    expect(found(quiet, {}, fault(2000, 2001))).toEqual([]);
    expect(found(quiet, {}, fault(2000))).toEqual([]);
    expect(found(quiet, {}, fault(5000, 5100))).toHaveLength(1);
    // What was not answered may land when the fault is over, and hold for a TTL from then.
    const unanswered = granted(7, 'c3', [50, 60], { type: 'info', error: 'timeout' });
    expect(found([...quiet, unanswered], {}, fault(500, 900))).toEqual([]);
    expect(found([...quiet, unanswered])).toHaveLength(1);
  });

  it('gives the service its slack again where the harness stood still', () => {
    const stall: Fields = [{ type: 'harness', since: 1300e6, time: 1400, loopDelayMillis: 300 }];
    expect(found(refusedAt(1100, 3100), {}, stall)).toHaveLength(1);
    const late: Fields = [{ type: 'harness', since: 2900e6, time: 3050, loopDelayMillis: 300 }];
    expect(found(refusedAt(1100, 3100), {}, late)).toEqual([]);
    expect(found(refusedAt(1100, 4050), {}, late)).toHaveLength(1);
    // An attempt that met one is no evidence, however late it was.
    const during: Fields = [{ type: 'harness', since: 3105e6, time: 3200, loopDelayMillis: 300 }];
    expect(found(refusedAt(1100, 3100), {}, during)).toEqual([]);
  });

  it('is not claimed where the journal of somebody who asked for it stops before his end', () => {
    const header = { meta: { closedByDown: true } };
    const [one, other] = ['c1', 'c2'].map((process) => ({ type: 'down', time: 9500, process }));
    expect(found(blocked, header, [{ ...one }, { ...other }])).toHaveLength(1);
    expect(found(blocked, header, [{ ...other }])).toEqual([]);
  });

  it('is each lock by itself, and once for each', () => {
    const k2 = blocked.map(({ asks, ...one }) => ({
      ...one,
      id: one.id + 10,
      process: `${one.process}0`,
      asks: { ...asks, lock: 'k2' },
    }));
    const again = [attempt(6, 5100), attempt(7, 8000), attempt(8, 9000, {})];
    expect(found([...blocked, ...again, ...k2])).toEqual([
      'orphan-state 1 3 4 5',
      'orphan-state 11 13 14 15',
    ]);
  });
});
