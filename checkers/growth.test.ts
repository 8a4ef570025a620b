// What a rule reads grows with its history and not with the square of it, on shapes that are long in one way: nobody ever
// releases, everybody waits at once, there is a fault at every moment. Counts what is read, so no clock is involved.

import { describe, expect, it } from 'vitest';
import { grantColumnsOf, type Grants } from '../harness/history/grants.ts';
import { assembleHistory, type History } from '../harness/history/history.ts';
import { millis, nanos, type Header, type HistoryEvent } from '../harness/history/op.ts';
import { applyRules } from './apply-rules.ts';
import { expiredGrant } from './expired-grant.ts';
import { foreignRelease } from './foreign-release.ts';
import { lateLossNotice } from './late-loss-notice.ts';
import { mutualExclusion } from './mutual-exclusion.ts';
import { staleWrite } from './stale-write.ts';
import { tokenRegression } from './tokens.ts';
import type { RuleResult } from './verdict.ts';

const HEADER: Header = {
  format: 'lockpick-history',
  version: 1,
  clock: 'shared',
  clockErrorNanos: 0,
  meta: { keptAlive: true, deadlineAware: true },
};
const TTL = millis(0.01);

/** How many times something of a grant or a fault is read. */
function readsOf(
  events: readonly HistoryEvent[],
  rule: (history: History, grants: Grants) => RuleResult,
): number {
  let reads = 0;
  const counted = <T extends object>(thing: T): T =>
    new Proxy(thing, {
      get(target, name): unknown {
        reads += 1;
        return Reflect.get(target, name);
      },
    });
  const history = assembleHistory(HEADER, events);
  const grants = grantColumnsOf(history);
  rule(
    { ...history, faults: history.faults.map(counted) },
    counted({ ...grants, acquire: counted(grants.acquire), at: (place) => counted(grants.at(place)) }),
  );
  return reads;
}

const granted = (id: number, asked: number, answered: number, lease?: 'leased'): HistoryEvent[] => {
  const process = `c${id}`;
  const ttl = lease === undefined ? {} : { ttlMillis: TTL };
  return [
    { type: 'invoke', id, time: nanos(asked), process, op: 'acquire', lock: 'k', ...ttl },
    { type: 'ok', id, time: nanos(answered), process, op: 'acquire' },
  ];
};
const wrote = (id: number, process: string, time: number): HistoryEvent[] => [
  { type: 'invoke', id, time: nanos(time), process, op: 'write', store: 'none', key: 'k', value: `${id}` },
  { type: 'ok', id, time: nanos(time), process, op: 'write' },
];
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const SHAPES: Readonly<Record<string, (size: number) => HistoryEvent[]>> = {
  'everybody waits at once, longer than a lease': (size) =>
    numbers(size).flatMap((index) => [
      ...granted(2 * index, 0, (index + 1) * 20_000, 'leased'),
      ...wrote(2 * index + 1, `c${2 * index}`, (index + 1) * 20_000 + 1),
    ]),
  'one of them waits all the time': (size) => [
    ...granted(3 * size, 0, size * 20_000, 'leased'),
    ...numbers(size).flatMap((index) => [
      ...granted(2 * index, index * 20_000, index * 20_000 + 1, 'leased'),
      ...wrote(2 * index + 1, `c${2 * index}`, index * 20_000 + 2),
    ]),
  ],
  'nobody ever releases': (size) =>
    numbers(size).flatMap((index) => [
      ...granted(2 * index, 10 * index, 10 * index + 1),
      ...wrote(2 * index + 1, `c${2 * index}`, 10 * index + 2),
    ]),
  'there is a fault at every moment': (size) =>
    numbers(size).flatMap((index): HistoryEvent[] => {
      const time = nanos(index * 20_000);
      const fault = { type: 'fault', id: `f${index}`, fault: 'pause', targets: ['c1'] } as const;
      return [
        { ...fault, phase: 'begin', time },
        { type: 'invoke', id: index, time, process: `c${index}`, op: 'acquire', lock: 'k', ttlMillis: TTL },
        { type: 'ok', id: index, time, process: `c${index}`, op: 'acquire', validUntil: time },
        ...wrote(size + index, `c${index}`, time + 1),
        { ...fault, phase: 'end', time: nanos(time + 2) },
      ];
    }),
};

const SIZE = 500;
/** Twice as long a history takes twice the reads, and a little more for a logarithm. */
const GROWTH_MAX = 2.5;

describe.each(Object.entries(SHAPES))('where %s', (_, eventsOf) => {
  it.each(
    Object.entries({
      mutualExclusion,
      tokenRegression,
      foreignRelease,
      expiredGrant,
      lateLossNotice,
      staleWrite,
    }),
  )('%s reads in proportion', (__, rule) => {
    const reads = readsOf(eventsOf(SIZE), rule);
    expect(reads).toBeGreaterThan(0);
    expect(readsOf(eventsOf(2 * SIZE), rule)).toBeLessThan(GROWTH_MAX * reads);
  });
});

/** Of as many grants as that, all answered at one stamp: how many ids are read until they are in order. */
function idsRead(size: number): number {
  const history = assembleHistory(
    HEADER,
    numbers(size).flatMap((index) => granted(size - index, index, 1e9)),
  );
  let reads = 0;
  const id = new Proxy(history.columns.id, {
    get(target, name): unknown {
      reads += 1;
      return Reflect.get(target, name);
    },
  });
  const { acquire } = grantColumnsOf({ ...history, columns: { ...history.columns, id } });
  expect(Array.from(acquire, (row) => history.columns.id[row])).toEqual(numbers(size).map((n) => n + 1));
  return reads;
}

it('puts grants that were all answered at one stamp in order, reading in proportion', () => {
  expect(idsRead(2 * SIZE)).toBeLessThan(GROWTH_MAX * idsRead(SIZE));
});

it('says that there are more findings than it counted', () => {
  const eventsOf = SHAPES['nobody ever releases'];
  const history = assembleHistory(HEADER, eventsOf?.(SIZE) ?? []);
  const { checkers } = applyRules({ mutualExclusion }, history, grantColumnsOf(history), () => 0);
  expect(checkers[0]?.reason).toMatch(/^at least 1\d{5} more findings are not listed$/);
});

it('names every lock that was given twice, however often another was', () => {
  const often = SHAPES['nobody ever releases']?.(SIZE) ?? [];
  const once = [granted(9001, 1e9, 1e9 + 1), granted(9002, 1e9 + 2, 1e9 + 3)].flat();
  const events = [...often, ...once.map((event) => ('lock' in event ? { ...event, lock: 'other' } : event))];
  const history = assembleHistory(HEADER, events);
  const { findings } = applyRules({ mutualExclusion }, history, grantColumnsOf(history), () => 0);
  expect(new Set(findings.map(({ lock }) => lock))).toEqual(new Set(['k', 'other']));
});

it('counts the holders of a semaphore that has room for all of them and makes nothing of them', () => {
  const meta = { kind: 'semaphore', permits: SIZE } as const;
  const history = assembleHistory({ ...HEADER, meta }, SHAPES['nobody ever releases']?.(SIZE) ?? []);
  let made = 0;
  const grants = grantColumnsOf(history);
  const at: Grants['at'] = (place) => {
    made += 1;
    return grants.at(place);
  };
  expect(mutualExclusion(history, { ...grants, at })).toEqual({ verdict: 'valid' });
  expect(made).toBe(0);
});
