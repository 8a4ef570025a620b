// Ids are stable and tell evidence apart; faults in force are found; processes and containers are told apart.

import { describe, expect, it } from 'vitest';
import {
  clientContainers,
  collector,
  containerOf,
  FINDINGS_MAX,
  faultsWithin,
  findingOf,
  hits,
  inOrder,
  quota,
  type Proof,
} from './finding.ts';
import { nanos } from '../harness/history/op.ts';
import { granted, historyOf } from './scenario.fixture.ts';

const history = historyOf([granted(1, 'c3.2', [0, 10])], {}, [
  { type: 'fault', id: 'f1', fault: 'pause', targets: ['c3'], phase: 'begin', time: 10 },
  { type: 'fault', id: 'f1', fault: 'pause', targets: ['c3'], phase: 'end', time: 20 },
  { type: 'fault', id: 'f2', fault: 'kill', targets: ['r1'], phase: 'begin', time: 30 },
]);
const proof: Proof<'double-grant'> = {
  code: 'double-grant',
  lock: 'k1',
  processes: ['c1'],
  ops: [12, 3],
  since: nanos(0),
  at: nanos(15e6),
  story: 'It happened.',
  evidence: {},
};
const idOf = (changed: Partial<Proof<'double-grant' | 'belief-overlap'>>): string =>
  findingOf(history, { ...proof, ...changed }).id;

function foundAt(time: number, op: number): ReturnType<typeof findingOf> {
  return findingOf(history, { ...proof, at: nanos(time), ops: [op] });
}

describe('an id', () => {
  it('is 64 bits of FNV-1a', () => {
    // Of the text "double-grant|k1||3,12".
    expect(idOf({})).toMatch(/^[0-9a-f]{16}$/);
    let hash = 0xcbf29ce484222325n;
    for (const character of 'double-grant|k1||3,12')
      hash = ((hash ^ BigInt(character.charCodeAt(0))) * 0x100000001b3n) & 0xffffffffffffffffn;
    expect(idOf({})).toBe(hash.toString(16).padStart(16, '0'));
  });

  it('depends on the evidence, not on how it is told', () => {
    expect(idOf({ ops: [3, 12], story: 'x', at: nanos(9), processes: [], evidence: { a: 1 } })).toBe(
      idOf({}),
    );
    const different = [
      idOf({ code: 'belief-overlap' }),
      idOf({ lock: 'k2' }),
      idOf({ store: 'x' }),
      idOf({ ops: [3] }),
    ];
    expect(new Set([idOf({}), ...different]).size).toBe(5);
  });
});

describe('the faults in force', () => {
  it('are those that had begun and not ended at some time of it', () => {
    const ids = (from: number, to: number): string[] =>
      faultsWithin(history, nanos(from * 1e6), nanos(to * 1e6)).map(({ id }) => id);
    expect(ids(0, 9)).toEqual([]);
    expect(ids(0, 10)).toEqual(['f1']);
    expect(ids(20, 30)).toEqual(['f1', 'f2']);
    expect(ids(21, 29)).toEqual([]);
    expect(ids(90, 99)).toEqual(['f2']);
    expect(findingOf(history, proof).faults).toEqual(['f1']);
  });

  it('are also those that may have been, by clocks that differ', () => {
    const apart = { ...history, header: { ...history.header, clockErrorNanos: 1e6 } };
    const ids = (from: number, to: number): string[] =>
      faultsWithin(apart, nanos(from * 1e6), nanos(to * 1e6)).map(({ id }) => id);
    expect([ids(0, 8), ids(0, 9), ids(21, 28), ids(22, 29)]).toEqual([[], ['f1'], ['f1'], ['f2']]);
  });

  it('are not those for which nobody was found whom they could have hit', () => {
    const of = { type: 'fault', id: 'f1', fault: 'kill', targets: [], time: 10 };
    const none = historyOf([granted(1, 'c1', [0, 20])], {}, [
      { ...of, phase: 'begin', params: { target: 'voter' } },
      { ...of, phase: 'end', evidence: { noTarget: 'voter' } },
    ]);
    expect(faultsWithin(none, nanos(0), nanos(20e6))).toEqual([]);
  });
});

describe('containers', () => {
  it('are what faults name, whichever process runs in them', () => {
    expect(['c3', 'c3.2', 'c10.12', 'shop.eu'].map(containerOf)).toEqual(['c3', 'c3', 'c10', 'shop.eu']);
    // An address is no process that was started again: the servers of a subnet are not one.
    expect(containerOf('10.0.0.9')).toBe('10.0.0.9');
    expect([...clientContainers(history)]).toEqual(['c3']);
    const [pause, kill] = history.faults;
    expect(pause && hits(pause, 'c3.2')).toBe(true);
    expect(kill && hits(kill, 'c3.2')).toBe(false);
  });
});

describe('a collector', () => {
  it('keeps so many and counts the others, which it does not make', () => {
    const findings = collector();
    let made = 0;
    for (let op = 0; op < FINDINGS_MAX + 5; op++)
      findings.add('double-grant', 'k1', () => {
        made += 1;
        return foundAt(op, op);
      });
    const result = findings.result();
    expect(made).toBe(FINDINGS_MAX);
    expect(result.verdict === 'invalid' && [result.findings.length, result.omitted]).toEqual([
      FINDINGS_MAX,
      5,
    ]);
    expect(collector().result()).toEqual({ verdict: 'valid' });
  });

  it('never lets many of one code hide one of another', () => {
    const findings = collector();
    for (let op = 0; op < FINDINGS_MAX + 5; op++) findings.add('belief-overlap', 'k1', () => foundAt(op, op));
    findings.add('double-grant', 'k1', () => foundAt(1, 999_999));
    const result = findings.result();
    expect(result.verdict === 'invalid' && result.findings.some(({ ops }) => ops.includes(999_999))).toBe(
      true,
    );
  });
});

describe('a verdict with too many findings', () => {
  it('still has the first of each lock', () => {
    const listed = quota();
    const first = { code: 'double-grant', lock: 'k1' } as const;
    for (let op = 0; op < FINDINGS_MAX; op++) expect(listed(first)).toBe(true);
    expect(listed(first)).toBe(false);
    expect(listed({ ...first, lock: 'k2' })).toBe(true);
    expect(listed({ ...first, lock: 'k2' })).toBe(false);
    expect(listed({ ...first, store: 'none' })).toBe(true);
  });
});

describe('the order', () => {
  it('is by time, then by id', () => {
    const [a, b, c] = [foundAt(5, 1), foundAt(5, 2), foundAt(4, 3)];
    const [low, high] = a.id < b.id ? [a, b] : [b, a];
    expect(inOrder([a, b, c])).toEqual([c, low, high]);
    expect(inOrder([b, c, a])).toEqual([c, low, high]);
  });
});
