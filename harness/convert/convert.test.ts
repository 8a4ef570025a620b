// What is converted means the same: EDN read back has the verdict of the history it came from, a trace has one row for one
// thing at a time, CSV has every operation and survives hostile texts.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyWorld } from '../../checkers/any-world.fixture.ts';
import { tell, toldHistory, type Told } from '../../checkers/ideal-lock.fixture.ts';
import { checkModel } from '../../checkers/linearizable/check-model.ts';
import { grantsOf } from '../history/grants.ts';
import type { History, Operation } from '../history/history.ts';
import { parseHistory } from '../history/json-lines.ts';
import { parseRecorded } from '../history/recorded.ts';
import { chromeTraceLines } from './chrome-trace.ts';
import { csvLines } from './csv.ts';
import { ednLines } from './edn.ts';

/** What a Jepsen history can say: no answer "not yours", which it knows as a release that failed. */
function sayable({ header, events }: Told): History {
  const unsayable = new Set<unknown>();
  for (const event of events)
    if (
      (event.type === 'ok' && event.op === 'release' && event.released === false) ||
      (event.type === 'fail' && event.op === 'renew')
    )
      unsayable.add(event.id);
  return toldHistory({
    header,
    events: events.filter((event) => !('id' in event && unsayable.has(event.id))),
  });
}

function throughEdn({ operations }: History): ReturnType<typeof parseRecorded> {
  return parseRecorded([...ednLines(operations)].join(''));
}

function historyOf(...events: readonly object[]): History {
  const header = { format: 'lockpick-history', version: 1, clock: 'shared', clockErrorNanos: 0 };
  return parseHistory([header, ...events].map((event) => JSON.stringify(event)).join('\n'));
}

const HOSTILE = 'a "quoted", \\ text;\nwith [brackets] {:and 1}';

describe('EDN', () => {
  it('has the same verdict, read back', () => {
    const seen = { valid: 0, invalid: 0, unknown: 0 };
    fc.assert(
      fc.property(
        anyWorld({ clockErrorMillis: 0 }),
        fc.constantFrom('mutex', 'owned-mutex', 'fenced-mutex', 'cas-register'),
        (world, model) => {
          const history = sayable(tell(world));
          const direct = checkModel({ format: 'lockpick-history', history }, { model, initial: '0' });
          const converted = checkModel(throughEdn(history), { model, initial: '0' });
          // EDN tells attempts apart, so a release may be of several; a mutex without owners would not have asked.
          const comparable = model !== 'mutex' || direct.verdict === 'valid';
          expect(comparable ? converted.verdict : direct.verdict).toBe(direct.verdict);
          expect(converted.partitions.map(({ name }) => name)).toEqual(
            direct.partitions.filter(({ entries }) => entries.size > 0).map(({ name }) => name),
          );
          seen[direct.verdict]++;
        },
      ),
      { numRuns: 300 },
    );
    expect(Math.min(seen.valid, seen.invalid)).toBeGreaterThan(20);
  });

  it('pairs by process: what is unknown keeps its number, what overlaps has another', () => {
    const history = historyOf(
      { type: 'invoke', id: 1, time: 0, process: 'c1', op: 'acquire', lock: 'k1' },
      { type: 'invoke', id: 2, time: 1, process: 'c1', op: 'renew', lock: 'k1' },
      { type: 'info', id: 1, time: 2, process: 'c1', op: 'acquire', error: 'timeout' },
      { type: 'ok', id: 2, time: 3, process: 'c1', op: 'renew' },
      { type: 'invoke', id: 3, time: 4, process: 'c1', op: 'acquire', lock: 'k1' },
      { type: 'invoke', id: 4, time: 5, process: 'c2', op: 'acquire', lock: 'k1' },
    );
    const numbers = [...ednLines(history.operations)].map((line) => /:process (\d+), .*:id (\d+)/.exec(line));
    expect(numbers.map((match) => [Number(match?.[2]), Number(match?.[1])])).toEqual([
      [1, 0],
      [2, 1],
      [1, 0],
      [2, 1],
      [3, 1],
      [4, 2],
    ]);
  });

  it('keeps hostile texts', () => {
    const key = { store: 's', key: HOSTILE };
    const history = historyOf(
      { type: 'invoke', id: 1, time: 0, process: HOSTILE, op: 'write', ...key, value: HOSTILE },
      { type: 'ok', id: 1, time: 1, process: HOSTILE, op: 'write' },
      { type: 'invoke', id: 2, time: 2, process: 'c', op: 'read', ...key },
      { type: 'ok', id: 2, time: 3, process: 'c', op: 'read', value: HOSTILE },
    );
    const recorded = throughEdn(history);
    expect(recorded).toMatchObject({ calls: { calls: [{ argument: HOSTILE }, { result: HOSTILE }] } });
    expect(checkModel(recorded).verdict).toBe('valid');
  });
});

interface TraceEvent {
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur: number;
}

function traceOf(history: History): readonly TraceEvent[] {
  const { operations, faults, end: until } = history;
  const text = [...chromeTraceLines({ operations, grants: grantsOf(history), faults, until })].join('');
  return (JSON.parse(text) as { traceEvents: readonly TraceEvent[] }).traceEvents;
}

describe('a Chrome trace', () => {
  it('has every operation and hold, in rows without overlap, and none that ends before it begins', () => {
    fc.assert(
      fc.property(anyWorld(), (world) => {
        const history = toldHistory(tell(world));
        const spans = traceOf(history).filter(({ ph }) => ph === 'X');
        expect(spans.length).toBe(
          history.operations.length + grantsOf(history).length + history.faults.length,
        );
        expect(Math.min(0, ...spans.map(({ dur }) => dur))).toBe(0);
        for (const row of Map.groupBy(spans, ({ pid, tid }) => `${pid} ${tid}`).values()) {
          const sorted = row.toSorted((a, b) => a.ts - b.ts || a.dur - b.dur);
          const overlapping = sorted.filter(({ ts }, index) => {
            const before = sorted[index - 1];
            return before !== undefined && before.ts + before.dur > ts + 1e-3;
          });
          expect(overlapping).toEqual([]);
        }
      }),
      { numRuns: 100 },
    );
  });
});

/** A relative write, for an order. */
const RELATIVE = { value: '5', base: '4', add: '-1', order: 'o1' };

describe('CSV', () => {
  it('has a row for each operation, and quotes what would break it', () => {
    const history = historyOf(
      {
        type: 'invoke',
        id: 1,
        time: 0,
        process: HOSTILE,
        op: 'acquire',
        lock: 'k1',
        owner: 'a1',
        shared: true,
      },
      { type: 'ok', id: 1, time: 1, process: HOSTILE, op: 'acquire', token: '12345678901234567890' },
      { type: 'invoke', id: 2, time: 2, process: 'c', op: 'read', store: 's', key: 'x' },
      { type: 'invoke', id: 3, time: 3, process: 'c', op: 'write', store: 's', key: 'x', ...RELATIVE },
    );
    expect([...csvLines(history.operations)]).toEqual([
      'id,process,op,outcome,invoked_ns,completed_ns,lock,store,key,owner,value,base,version,token,released,ttl_ms,error,shared,add,order\r\n',
      `1,"${HOSTILE.replaceAll('"', '""')}",acquire,ok,0,1,k1,,,a1,,,,12345678901234567890,,,,true,,\r\n`,
      '2,c,read,info,2,,x,s,x,,,,,,,,,,,\r\n',
      '3,c,write,info,3,,x,s,x,,5,4,,,,,,,-1,o1\r\n',
    ]);
  });

  it('has the same columns in every row', () => {
    const all: readonly Operation[] = toldHistory(
      tell({
        seed: 1,
        clients: 3,
        locks: 2,
        untilMillis: 400,
        deadlineAware: false,
        blindRelease: false,
        renews: true,
        loss: 0.1,
        pauses: true,
        deaths: true,
        clockErrorMillis: 0,
      }),
    ).operations;
    const rows = [...csvLines(all)];
    expect(new Set(rows.map((row) => row.split(',').length))).toEqual(new Set([20]));
    expect(rows.length).toBe(all.length + 1);
  });
});
