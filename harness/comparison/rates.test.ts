// How often a lock was lost: added up by lock and question, and asked of faults that exist.

import { expect, it } from 'vitest';
import { catalogue } from '../plan/catalogue.ts';
import { answerText, QUESTIONS, ratesOf, type Tried } from './rates.ts';

function tried(lock: string, fault: string, hits: number): Tried {
  return {
    lock,
    fault,
    faults: (code) => ({ hits: code === 'double-grant' ? 0 : hits, trials: 10 }),
    runs: (code) => ({ hits: code === 'double-grant' ? hits : 0, trials: 5 }),
  };
}

it('adds up what was done to a lock, and leaves out those that nothing asks about', () => {
  const rates = ratesOf([
    tried('etcd/lease-queue', 'kill-leader', 0),
    tried('redlock/redlock', 'restart-voter', 4),
    tried('etcd/lease-queue', 'partition-leader', 0),
    tried('etcd/lease-queue', 'pause-holder', 10),
    tried('postgres/lease-row', 'none', 0),
  ]);
  expect(rates.map(({ lock, answers }) => [lock, ...answers.map(answerText)])).toEqual([
    ['etcd/lease-queue', '0 % [0, 31] of 10 runs, 20 faults', '–', '–', '100 % [69, 100] of 10 faults', '–'],
    ['redlock/redlock', '80 % [28, 99] of 5 runs, 10 faults', '–', '–', '–', '–'],
  ]);
});

it('asks of faults that the catalogue has, and of none twice', () => {
  const asked = QUESTIONS.flatMap(({ faults }) => faults);
  expect(new Set(asked).size).toBe(asked.length);
  const known = new Set(catalogue.map(({ fault }) => fault));
  expect(asked.filter((fault) => !known.has(fault))).toEqual([]);
});
