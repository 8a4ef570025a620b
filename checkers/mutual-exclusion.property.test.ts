// `double-grant` and `belief-overlap` as the sweep finds them and as the definition says, pair by pair, on histories in which
// everything goes wrong.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { grantColumnsOf, grantsOf, intersect, type Grant } from '../harness/history/grants.ts';
import type { History } from '../harness/history/history.ts';
import { anyWorld } from './any-world.fixture.ts';
import { tell, toldHistory } from './ideal-lock.fixture.ts';
import { mutualExclusion } from './mutual-exclusion.ts';
import type { Finding } from './verdict.ts';

function findings(history: History): readonly Finding[] {
  const result = mutualExclusion(history, grantColumnsOf(history));
  return result.verdict === 'invalid' ? result.findings : [];
}

/** The rule as it is written, for each pair. */
function byDefinition(history: History): string[] {
  const grants = grantsOf(history);
  const { clockErrorNanos } = history.header;
  const inside = (inner: Grant, outer: Grant): boolean =>
    inner.acquire.invoked - clockErrorNanos > outer.tenure.start &&
    (inner.acquire.completed ?? Infinity) + clockErrorNanos < outer.tenure.end;
  return grants.flatMap((a, index) =>
    grants.slice(index + 1).flatMap((b) => {
      if (a.lock !== b.lock || a.process === b.process) return [];
      if (a.acquire.shared === true && b.acquire.shared === true) return [];
      if (inside(a, b) || inside(b, a) || intersect(a.tenure, b.tenure))
        return [`double-grant ${a.acquire.id} ${b.acquire.id}`];
      return intersect(a.hold, b.hold) ? [`belief-overlap ${a.acquire.id} ${b.acquire.id}`] : [];
    }),
  );
}

/** The grants that were made while so many other processes were certain of theirs. */
function oneTooMany(history: History, permits: number): number[] {
  const grants = grantsOf(history);
  const { clockErrorNanos } = history.header;
  return grants.flatMap((late, index) => {
    const certain = grants.slice(0, index).filter(({ process, tenure }) => {
      if (process === late.process || tenure.end <= late.tenure.start) return false;
      return late.acquire.invoked - clockErrorNanos > tenure.start || intersect(tenure, late.tenure);
    });
    return new Set(certain.map(({ process }) => process)).size < permits ? [] : [late.acquire.id];
  });
}

describe('the sweep', () => {
  it('finds what the definition says, pair by pair', () => {
    fc.assert(
      fc.property(anyWorld(), (world) => {
        const history = toldHistory(tell(world));
        const swept = findings(history).map(({ code, ops }) => `${code} ${ops[0]} ${ops.at(-1)}`);
        expect(swept.toSorted()).toEqual(byDefinition(history).toSorted());
      }),
      { numRuns: 150 },
    );
  });

  it('finds what the definition says where some share the lock', () => {
    fc.assert(
      fc.property(anyWorld(), fc.integer({ min: 2, max: 4 }), (world, oneIn) => {
        const told = toldHistory(tell(world));
        const operations = told.operations.map((operation) =>
          operation.op === 'acquire' && operation.id % oneIn > 0 ? { ...operation, shared: true } : operation,
        );
        const history = { ...told, operations };
        const swept = findings(history).map(({ code, ops }) => `${code} ${ops[0]} ${ops.at(-1)}`);
        expect(swept.toSorted()).toEqual(byDefinition(history).toSorted());
      }),
      { numRuns: 100 },
    );
  });

  it('finds the grants of a semaphore that are one too many, as the definition says', () => {
    let seen = 0;
    fc.assert(
      fc.property(anyWorld({ blindRelease: true, pauses: true, locks: 1 }), (world) => {
        const { header, ...told } = toldHistory(tell(world));
        const meta = { ...header.meta, kind: 'semaphore', permits: 2 } as const;
        const history = { ...told, header: { ...header, meta } };
        const swept = findings(history).filter(({ code }) => code === 'double-grant');
        const tooMany = new Set(swept.map(({ ops }) => ops.at(-1)));
        seen += tooMany.size;
        expect([...tooMany]).toEqual(oneTooMany(history, 2));
        for (const { processes } of swept) expect(new Set(processes).size).toBe(3);
      }),
      { numRuns: 150, seed: 1 },
    );
    expect(seen).toBeGreaterThan(0);
  });
});
