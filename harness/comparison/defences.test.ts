// The defences of a cell over its runs: counted, and in words.

import { describe, expect, it } from 'vitest';
import type { StoreResult } from '../../checkers/verdict.ts';
import { defencesOf, defenceWords } from './defences.ts';

function store(name: string, verdict: StoreResult['verdict'], findings: StoreResult['findings'] = {}) {
  const writes = { accepted: 1, refused: 0, unanswered: 0 };
  return { name, verdict, findings, brokenPromises: [], writes, settled: {}, settlements: [] };
}

const RUNS = [
  { stores: [store('none', 'invalid', { oversold: 2 }), store('row-lock', 'valid')] },
  { stores: [store('none', 'valid'), store('row-lock', 'valid')] },
  {
    stores: [
      store('none', 'invalid', { 'lost-update': 1, oversold: 3 }),
      store('row-lock', 'unknown'),
      store('version-cas', 'valid'),
    ],
  },
];

describe('the defences of a cell', () => {
  it('are each counted over its runs', () => {
    expect(defencesOf(RUNS)).toEqual([
      { name: 'none', harmed: 2, held: 1, unknown: 0, findings: { oversold: 5, 'lost-update': 1 } },
      { name: 'row-lock', harmed: 0, held: 2, unknown: 1, findings: {} },
      { name: 'version-cas', harmed: 0, held: 1, unknown: 0, findings: {} },
    ]);
    expect(defencesOf([{ stores: [] }])).toEqual([]);
  });

  it('are told in words: harm first, then doubt', () => {
    expect(defencesOf(RUNS).map(defenceWords)).toEqual([
      '✖ harmed in 2 of 3: 1 × lost-update, 5 × oversold',
      '? cannot be told in 1 of 3',
      '✔ held',
    ]);
  });
});
