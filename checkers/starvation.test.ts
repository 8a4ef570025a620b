// `starved`: how often a client must have been passed, for how long, and what may not have been going on.

import { describe, expect, it } from 'vitest';
import { grantColumnsOf } from '../harness/history/grants.ts';
import { granted, historyOf, released, step, type Step } from './scenario.fixture.ts';
import { starvation } from './starvation.ts';
import type { RuleResult } from './verdict.ts';

type Fields = NonNullable<Parameters<typeof historyOf>[2]>;

function judged(steps: readonly Step[], header: Fields[number] = {}, more: Fields = []): RuleResult {
  const history = historyOf(steps, header, more);
  return starvation(history, grantColumnsOf(history));
}

const isStarved = (...asked: Parameters<typeof judged>): boolean => judged(...asked).verdict === 'invalid';

/** `c1` has k1 so many times, for 40 of every 50 ms from `from` on. */
function rounds(times: number, from = 1000, process = 'c1', first = 1001): Step[] {
  return Array.from({ length: times }, (_, round) => {
    const [id, at] = [first + 2 * round, from + 50 * round];
    return [granted(id, process, [at, at + 2]), released(id + 1, process, [at + 40, at + 42])];
  }).flat();
}

/** c9 asks in vain every so often. */
function asking(from: number, to: number, every = 50): Step[] {
  return Array.from({ length: Math.floor((to - from) / every) + 1 }, (_, index) =>
    step(
      1 + index,
      'c9',
      'acquire',
      [from + every * index, from + every * index + 2],
      { lock: 'k1', try: true, ttlMillis: 1000 },
      { type: 'fail', error: 'busy' },
    ),
  );
}

/** Of the client that waits. */
function fault(begin: number, end: number): Fields {
  const of = { type: 'fault', id: 'f1', fault: 'pause', targets: ['c9'] };
  return [
    { ...of, phase: 'begin', time: begin },
    { ...of, phase: 'end', time: end },
  ];
}

describe('starved', () => {
  it('is a client that was passed twenty times for each that wants the lock, and never had it', () => {
    const steps = [...rounds(44), ...asking(990, 3200)];
    expect(judged(steps)).toMatchObject({
      verdict: 'invalid',
      findings: [
        {
          code: 'starved',
          lock: 'k1',
          processes: ['c9', 'c1'],
          ops: [1, 45, 1001, 1087],
          at: 3192e6,
          story:
            'c9 asked for k1 from 0.990 s (op 1) to 3.192 s (op 45), was told 45 times that it was busy, and never had it. ' +
            'Meanwhile it was granted 44 times to c1, who asked later: first op 1001, last op 1087.',
        },
      ],
    });
  });

  it('is not one who was passed less often, asked for less than TTL and slack, or had it in the end', () => {
    expect(isStarved([...rounds(39), ...asking(990, 3200)])).toBe(false);
    expect(isStarved([...rounds(40), ...asking(990, 3200)])).toBe(true);
    expect(isStarved([...rounds(40), ...asking(990, 3200)], { meta: { slackMillis: 1300 } })).toBe(false);
    expect(isStarved([...rounds(44), ...asking(990, 3200), granted(900, 'c9', [3205, 3206])])).toBe(false);
  });

  it('asks for more where more want the lock', () => {
    const two = [...rounds(22, 1000), ...rounds(22, 2100, 'c2', 2001)];
    expect(isStarved([...two, ...asking(990, 3200)])).toBe(false);
    const three = [...rounds(30, 1000), ...rounds(30, 2500, 'c2', 2001)];
    expect(isStarved([...three, ...asking(990, 4000)])).toBe(true);
  });

  it('is none who stopped asking, or may have had it without being told', () => {
    expect(isStarved([...rounds(44), ...asking(990, 1900), ...apart(asking(2910, 3200), 500)])).toBe(false);
    const unanswered = granted(900, 'c9', [2005, 2010], { type: 'info', error: 'timeout' });
    expect(isStarved([...rounds(44), ...asking(990, 3200), unanswered])).toBe(false);
  });

  it('is not claimed of a wait in which a fault was in force, or shortly before, or lockpick stood still', () => {
    const steps = [...rounds(44, 2000), ...asking(1990, 4200)];
    expect(isStarved(steps, {}, fault(500, 900))).toBe(true);
    expect(isStarved(steps, {}, fault(500, 991))).toBe(false);
    expect(isStarved(steps, {}, fault(3000, 3001))).toBe(false);
    expect(isStarved(steps, {}, fault(4300, 4400))).toBe(true);
    const stall: Fields = [{ type: 'harness', since: 3000e6, time: 3500, loopDelayMillis: 300 }];
    expect(isStarved(steps, {}, stall)).toBe(false);
  });

  it('is not one who seldom asked, and found it taken by chance', () => {
    expect(isStarved([...rounds(100), ...asking(990, 6000, 130)])).toBe(false);
    expect(isStarved([...rounds(100), ...asking(990, 6000, 125)])).toBe(true);
    // One attempt that waits has as many chances as there are grants meanwhile.
    const waiting = step(
      900,
      'c9',
      'acquire',
      [3000, 5000],
      { lock: 'k1', ttlMillis: 1000 },
      { type: 'fail', error: 'busy' },
    );
    expect(isStarved([...rounds(100), ...asking(2010, 2990, 990), waiting])).toBe(true);
  });

  it('is not one who could not ask, or was refused for another reason than that the lock was taken', () => {
    for (const error of ['unavailable', 'no-majority', undefined])
      expect(isStarved([...rounds(44), ...failing(asking(990, 3200), error)])).toBe(false);
    // Such an attempt neither counts nor says that it stopped asking, unless it could not ask for longer than a TTL.
    const [early, middle, late] = [asking(990, 2000), asking(2040, 2390), asking(2440, 4500)];
    const mixed = [...early, ...failing(apart(middle, 200), 'unavailable'), ...apart(late, 400)];
    expect(judged([...rounds(70), ...mixed])).toMatchObject({
      findings: [{ evidence: { tries: early.length + late.length } }],
    });
    // While it could not ask, others were granted the lock, and took nothing from it.
    expect(
      isStarved([...rounds(44), ...early, ...failing(apart(asking(2040, 3200), 200), 'unavailable')]),
    ).toBe(false);
  });

  it('is not one who asked again and again while one and the same held the lock', () => {
    // 100 times before the first grant, then once in 250 ms.
    const eager = asking(990, 1000, 0.1).map((one) => ({
      ...one,
      span: [one.span[0], one.span[0] + 0.05] as const,
    }));
    expect(isStarved([...rounds(60, 1001), ...eager, ...apart(asking(1250, 4000, 250), 500)])).toBe(false);
  });

  it('is not one who waits while the holder comes in again and again', () => {
    const owned = [granted(800, 'c1', [985, 986]), ...rounds(60)].map((one) => ({
      ...one,
      asks: { ...one.asks, owner: 'a1' },
    }));
    const steps = [...owned, ...asking(990, 4000)];
    expect(isStarved(steps, { meta: { kind: 'reentrant' } })).toBe(false);
    expect(isStarved(steps)).toBe(true);
  });

  it('is not one who was passed by those that had asked before it', () => {
    // One acquire that waits in the service, and the others one after the other before it in the queue.
    const waiting = step(
      900,
      'c9',
      'acquire',
      [999, 3200],
      { lock: 'k1', ttlMillis: 1000 },
      { type: 'fail', error: 'busy' },
    );
    expect(isStarved([...rounds(44), waiting])).toBe(true);
    const queued = Array.from({ length: 44 }, (_, place) =>
      granted(1001 + place, `c${place + 10}`, [990, 1000 + 50 * place]),
    );
    expect(isStarved([...queued, waiting])).toBe(false);
  });
});

function failing(steps: readonly Step[], error: string | undefined): Step[] {
  return steps.map((one) => ({ ...one, gets: { type: 'fail', ...(error !== undefined && { error }) } }));
}

/** The same with other ids. */
function apart(steps: readonly Step[], by: number): Step[] {
  return steps.map((one) => ({ ...one, id: one.id + by }));
}
