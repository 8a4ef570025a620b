// `stuck-lock` and `not-reacquired`: when a claim may be made at all, which of the two it is, and what each kind of
// operation that may still hold the lock does to it.

import { describe, expect, it } from 'vitest';
import { grantColumnsOf } from '../harness/history/grants.ts';
import { liveness } from './liveness.ts';
import { granted, historyOf, released, step, type Step } from './scenario.fixture.ts';
import type { RuleResult } from './verdict.ts';

type Fields = NonNullable<Parameters<typeof historyOf>[2]>;

function judged(steps: readonly Step[], header: Fields[number] = {}, more: Fields = []): RuleResult {
  const history = historyOf(steps, header, more);
  return liveness(history, grantColumnsOf(history));
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

const timedOut = { type: 'info', error: 'timeout' };
const refused = { type: 'fail', error: 'unavailable' };
/** c1 asks for k1 and is killed before it is answered: at 100 ms it is last seen. */
const orphan = step(1, 'c1', 'acquire', [100], { lock: 'k1', ttlMillis: 1000 });
const killed: Fields = [
  { type: 'fault', id: 'f1', fault: 'kill', targets: ['c1'], phase: 'begin', time: 150 },
  { type: 'fault', id: 'f1', fault: 'kill', targets: ['c1'], phase: 'acted', time: 150 },
  { type: 'down', process: 'c1', reason: 'killed', time: 150 },
  { type: 'fault', id: 'f1', fault: 'kill', targets: ['c1'], phase: 'end', time: 150 },
];

describe('stuck-lock', () => {
  it('is one that is busy for everybody when every lease is over', () => {
    const result = judged([orphan, attempt(2, 2149), attempt(3, 2150), attempt(4, 3000)], {}, killed);
    expect(result).toMatchObject({
      verdict: 'invalid',
      findings: [
        {
          code: 'stuck-lock',
          lock: 'k1',
          processes: ['c1', 'c2'],
          ops: [1, 3, 4],
          at: 3010e6,
          faults: ['f1'],
          story:
            "The last lease on k1 that anybody may have had, by c1's acquire (op 1, info) at 0.100 s, was over by " +
            '1.150 s, and every fault had ended. From 2.150 s on it was due, but none of 2 attempts from 2.150 s (op 3) ' +
            'to 3.010 s (op 4) succeeded: busy.',
        },
      ],
    });
  });

  it('is claimed only of attempts after the last heal, the last lease and the slack', () => {
    expect(found([orphan, attempt(2, 2149)], {}, killed)).toEqual([]);
    expect(found([orphan, attempt(2, 2150)], {}, killed)).toEqual(['stuck-lock 1 2']);
    expect(found([orphan, attempt(2, 2150)], { meta: { slackMillis: 1001 } }, killed)).toEqual([]);
    const healedLate = [{ type: 'fault', id: 'f2', fault: 'pause', targets: ['r1'] }].flatMap((fault) => [
      { ...fault, phase: 'begin', time: 100 },
      { ...fault, phase: 'end', time: 1151 },
    ]);
    // A stopped server may read the request when it goes on, and grant it for a whole TTL from then.
    expect(found([orphan, attempt(2, 3150)], {}, [...killed, ...healedLate])).toEqual([]);
    expect(found([orphan, attempt(2, 3151)], {}, [...killed, ...healedLate])).toEqual(['stuck-lock 1 2']);
  });

  it('is each lock on its own', () => {
    const other = step(9, 'c2', 'acquire', [2500, 2510], { lock: 'k2', ttlMillis: 1000 });
    expect(found([orphan, attempt(2, 2150), other], {}, killed)).toEqual(['stuck-lock 1 2']);
  });

  it('is none if anybody was granted it', () => {
    expect(found([orphan, attempt(2, 2150), attempt(3, 2200, {})], {}, killed)).toEqual([]);
    expect(found([orphan, attempt(2, 2150, {}), released(3, 'c2', [2200, 2210])], {}, killed)).toEqual([]);
  });

  it('is none if nobody tried, or none was answered', () => {
    expect(found([orphan], {}, killed)).toEqual([]);
    expect(
      found([orphan, step(2, 'c2', 'acquire', [2150], { lock: 'k1', ttlMillis: 1000 })], {}, killed),
    ).toEqual([]);
  });

  it.each<[what: string, steps: readonly Step[], over: number]>([
    ['a grant', [granted(1, 'c1', [0, 10])], 1010],
    [
      'a grant that was renewed',
      [granted(1, 'c1', [0, 10]), step(2, 'c1', 'renew', [900, 950], { lock: 'k1', ttlMillis: 1000 })],
      1950,
    ],
    [
      'a renew that names no TTL',
      [granted(1, 'c1', [0, 10]), step(2, 'c1', 'renew', [900, 950], { lock: 'k1' })],
      1950,
    ],
    [
      'a renew of unknown outcome',
      [
        granted(1, 'c1', [0, 10]),
        step(2, 'c1', 'renew', [900, 950], { lock: 'k1', ttlMillis: 1000 }, timedOut),
      ],
      1950,
    ],
    [
      'a grant held on the quiet for longer than its lease',
      [granted(1, 'c1', [0, 10]), released(2, 'c1', [3000, 3010])],
      3010,
    ],
    ['an acquire of unknown outcome', [granted(1, 'c1', [0, 300], timedOut)], 1300],
    ['nothing: a refused acquire', [granted(1, 'c1', [0, 10], { type: 'fail', error: 'unavailable' })], 0],
    [
      'a grant for good that was given back',
      [step(1, 'c1', 'acquire', [0, 10], { lock: 'k1' }), released(2, 'c1', [500, 510])],
      510,
    ],
  ])('waits for %s', (_, steps, over) => {
    const early = over + 1000 - 1;
    expect(found([...steps, attempt(50, early)]).filter((one) => one.startsWith('stuck'))).toEqual([]);
    expect(found([...steps, attempt(50, over + 1000)])[0]).toMatch(/^stuck-lock .*50$/);
  });

  it.each<[what: string, steps: readonly Step[]]>([
    ['a grant for good that was never given back', [step(1, 'c1', 'acquire', [0, 10], { lock: 'k1' })]],
    [
      'a grant for good whose release may not have happened',
      [step(1, 'c1', 'acquire', [0, 10], { lock: 'k1' }), released(2, 'c1', [500, 510], timedOut)],
    ],
    ['an acquire for good of unknown outcome', [step(1, 'c1', 'acquire', [0, 10], { lock: 'k1' }, timedOut)]],
  ])('is never claimed after %s, while its process lives', (_, steps) => {
    expect(found([...steps, attempt(50, 90_000)])).toEqual([]);
    const down = { type: 'down', process: 'c1', reason: 'killed', time: 600 };
    expect(found([...steps, attempt(50, 1599)], {}, [down])).toEqual([]);
    expect(found([...steps, attempt(50, 1600)], {}, [down])[0]).toMatch(/^stuck-lock .*50$/);
  });
});

describe('a library that keeps its grants alive by itself', () => {
  const kept = { meta: { keptAlive: true } };
  const held = granted(1, 'c1', [0, 10]);
  const down = { type: 'down', process: 'c1', reason: 'killed', time: 600 };
  const lost = { type: 'lost', process: 'c1', lock: 'k1', reason: 'session-expired', time: 500 };

  it.each<[what: string, more: Fields, over: number]>([
    ['while its process lives', [], Infinity],
    ['until a TTL after its process ended', [down], 1600],
    ['until a TTL after it said that it lost the lock', [lost], 1500],
  ])('may hold the lock %s', (_, more, over) => {
    const due = Math.min(over + 1000, 90_000);
    expect(found([held, attempt(50, due - 1)], kept, more)).toEqual([]);
    expect(found([held, attempt(50, due)], kept, more)).toEqual(over === Infinity ? [] : ['stuck-lock 1 50']);
    expect(found([held, attempt(50, due)], {}, more)).toEqual(['stuck-lock 1 50']);
  });
});

describe('not-reacquired', () => {
  it('is a lock that could not be had for a while, for other reasons', () => {
    const tries = [attempt(2, 2150, refused), attempt(3, 3140, refused)];
    expect(found([orphan, ...tries], {}, killed)).toEqual(['not-reacquired 1 2 3']);
    expect(
      found([orphan, attempt(2, 2150, refused), attempt(3, 2500), attempt(4, 3140, refused)], {}, killed),
    ).toEqual(['not-reacquired 1 2 4']);
  });

  it('is none where `busy` may be the doing of a late acquire of unknown outcome', () => {
    expect(found([orphan, attempt(2, 2150, refused), attempt(3, 3140)], {}, killed)).toEqual([]);
    expect(found([orphan, attempt(2, 2150), attempt(3, 3140, refused)], {}, killed)).toEqual([]);
  });

  it('is none of a single failure', () => {
    const long = step(2, 'c2', 'acquire', [2150, 3500], { lock: 'k1', try: true, ttlMillis: 1000 }, refused);
    expect(found([orphan, long], {}, killed)).toEqual([]);
    expect(found([orphan, attempt(2, 2150, refused)], {}, killed)).toEqual([]);
    expect(found([orphan, attempt(2, 2150, refused), attempt(3, 3139, refused)], {}, killed)).toEqual([]);
  });

  it('is a service that does not answer after the heal: that is no lease to wait for', () => {
    const tries = [attempt(2, 2150, timedOut), attempt(3, 2700, timedOut), attempt(4, 3200, timedOut)];
    expect(found([orphan, ...tries], {}, killed)).toEqual(['not-reacquired 1 2 4']);
    expect(found([orphan, ...tries, attempt(5, 3300, {})], {}, killed)).toEqual([]);
  });

  it('is not claimed for an attempt that is still under way', () => {
    const waiting = step(4, 'c2', 'acquire', [2500], { lock: 'k1', ttlMillis: 1000 });
    expect(found([orphan, attempt(2, 2150), waiting, attempt(3, 3200)], {}, killed)).toEqual([]);
  });

  it('is not claimed where attempts were busy for the lease that one of them may have had', () => {
    expect(
      found([attempt(1, 0, {}), attempt(2, 2005, timedOut), attempt(3, 2500), attempt(4, 4000)]),
    ).toEqual([]);
  });
});

describe('a history in which a fault did not end', () => {
  it('tells nothing of liveness', () => {
    const begun: Fields = [
      { type: 'fault', id: 'f9', fault: 'kill', targets: ['r1'], phase: 'begin', time: 10 },
    ];
    expect(judged([orphan, attempt(2, 9000)], {}, [...killed, ...begun])).toEqual({
      verdict: 'unknown',
      reason: 'fault f9 did not end in this history',
    });
  });
});

/** Between these times, in milliseconds. */
const harness = (since: number, time: number, loopDelayMillis: number): Fields[number] => ({
  type: 'harness',
  since: since * 1e6,
  time,
  loopDelayMillis,
});

describe('where the harness itself stood still', () => {
  const stuck = [orphan, attempt(2, 2150), attempt(3, 2400)];

  it('claims nothing, and says why', () => {
    expect(judged(stuck, {}, [...killed, harness(1000, 2000, 250)])).toEqual({
      verdict: 'unknown',
      reason: 'k1 could not be had in time, but lockpick itself stood still meanwhile',
    });
    expect(judged(stuck, {}, [...killed, harness(2300, 3300, 900)])).toMatchObject({ verdict: 'invalid' });
    expect(judged(stuck, {}, [...killed, harness(2155, 3300, 900)])).toMatchObject({ verdict: 'unknown' });
  });

  it('gives the service its slack again, and then claims', () => {
    const late = [...stuck, attempt(4, 2999), attempt(5, 3000)];
    expect(found(late, {}, [...killed, harness(1000, 2000, 250)])).toEqual(['stuck-lock 1 5']);
  });

  it('minds neither a short delay nor a stall that was over long before', () => {
    expect(found(stuck, {}, [...killed, harness(1000, 2000, 249)])).toEqual(['stuck-lock 1 2 3']);
    expect(found(stuck, {}, [...killed, harness(0, 1000, 900)])).toEqual(['stuck-lock 1 2 3']);
  });

  it('takes stalls of one span after the other for one, and says nothing of a lock that could be had', () => {
    const twice = [harness(500, 1500, 300), harness(1500, 2500, 300)];
    expect(judged(stuck, {}, [...killed, ...twice])).toMatchObject({ verdict: 'unknown' });
    const had = [...stuck, granted(6, 'c2', [2500, 2510])];
    expect(judged(had, {}, [...killed, ...twice])).toEqual({ verdict: 'valid' });
  });
});
