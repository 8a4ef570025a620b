// A whole history judged by a model: that a lock which keeps its promises is never blamed, whatever its clients recorded; that
// model and rules agree; which model and reading are taken; what is said when nobody can tell.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { grantColumnsOf } from '../../harness/history/grants.ts';
import { parseRecorded, type Recorded } from '../../harness/history/recorded.ts';
import { HISTORY_FORMAT, HISTORY_VERSION, nanos, type HistoryEvent } from '../../harness/history/op.ts';
import { anyWorld } from '../any-world.fixture.ts';
import { tell, toldHistory, type Told, type World } from '../ideal-lock.fixture.ts';
import { mutualExclusion } from '../mutual-exclusion.ts';
import { checkHistory } from '../check.ts';
import { checkModel } from './check-model.ts';
import { explain } from './explain.ts';
import { TEST_BUDGET } from './reference.fixture.ts';

function ours(told: Pick<Told, 'header' | 'events'>): Recorded {
  return { format: HISTORY_FORMAT, history: toldHistory(told) };
}

function lines(...events: readonly object[]): string {
  const header = { format: HISTORY_FORMAT, version: HISTORY_VERSION, clock: 'shared', clockErrorNanos: 0 };
  return [header, ...events].map((event) => JSON.stringify(event)).join('\n');
}

function edn(...events: readonly string[]): Recorded {
  return parseRecorded(events.map((event) => `{${event}}`).join('\n'));
}

/** Two writes and a read of `store`, one after the other. */
function written(store: string, asks: object, seen: string): object[] {
  return [1, 2, 3].flatMap((number) => {
    const id = number + (store === 'two' ? 10 : 0);
    const writes = { op: 'write', value: '9', ...asks };
    const asked = number === 3 ? { op: 'read' } : writes;
    const base = { id, process: `c${number}`, op: asked.op };
    return [
      { type: 'invoke', time: 10 * number, store, key: 'k', ...base, ...asked },
      { type: 'ok', time: 10 * number + 5, ...base, ...(number === 3 && { value: seen }) },
    ];
  });
}

/** Where a renewal that asks nobody is answered when its lease was over, and another client had the lock meanwhile. */
const RENEWED_LATE: World = {
  seed: 1_305_453_885,
  clients: 4,
  locks: 1,
  untilMillis: 202,
  deadlineAware: false,
  blindRelease: true,
  renews: true,
  loss: 0.05,
  pauses: true,
  deaths: true,
  clockErrorMillis: 1,
};

describe('a lease lock that keeps its promises', () => {
  it('is a lease-mutex, whatever its clients saw of it', () => {
    fc.assert(
      fc.property(anyWorld({ blindRelease: false }), (world) => {
        const recorded = ours(tell(world));
        const result = checkModel(recorded, { model: 'lease-mutex' });
        const { findings } = explain(recorded, result);
        expect(findings.map(({ story }) => story)).toEqual([]);
        expect(result.partitions.map(({ found }) => found.verdict)).not.toContain('unknown');
      }),
      { numRuns: 300 * TEST_BUDGET },
    );
  });

  it('is none any more once the rules have found a double grant', () => {
    let found = 0;
    fc.assert(
      fc.property(anyWorld({ clients: 4, locks: 1 }), fc.nat(), (world, seed) => {
        const told = tell(world);
        const changed = { ...told, events: withIntruder(told.events, seed) };
        const recorded = ours(changed);
        if ('calls' in recorded) return;
        const { history } = recorded;
        const ruled = mutualExclusion(history, grantColumnsOf(history));
        const hasDouble =
          ruled.verdict === 'invalid' && ruled.findings.some(({ code }) => code === 'double-grant');
        if (!hasDouble) return;
        found++;
        expect(checkModel(recorded, { model: 'lease-mutex' }).verdict).toBe('invalid');
      }),
      { numRuns: 300 * TEST_BUDGET, examples: [[RENEWED_LATE, 0]] },
    );
    expect(found).toBeGreaterThan(50);
  });
});

/** Another client is granted the lock right after one of the grants. */
function withIntruder(events: readonly HistoryEvent[], seed: number): readonly HistoryEvent[] {
  const granted = events.filter((event) => event.type === 'ok' && event.op === 'acquire');
  const other = granted[seed % Math.max(1, granted.length)];
  if (other === undefined) return events;
  const at = other.time + 2e6;
  const base = { id: 1_000_000, process: 'c99', op: 'acquire' } as const;
  const time = nanos(at);
  return [...events, { ...base, type: 'invoke', time, lock: 'k1' }, { ...base, type: 'ok', time }];
}

/* Operations of Jepsen and of ours, as they are written. */
const call = (process: number, type: string, name: string, value = 'nil'): string =>
  `:process ${process} :type :${type} :f :${name} :value ${value}`;

const both = (process: number, name: string, value = 'nil'): string[] => [
  call(process, 'invoke', name, value),
  call(process, 'ok', name, value),
];

const append = (key: string, value: string): string[] =>
  ['invoke', 'ok'].map((type) => `:process 0 :type :${type} :f :append :key "${key}" :value "${value}"`);

const get = (key: string, value: string): string[] => [
  `:process 0 :type :invoke :f :get :key "${key}" :value nil`,
  `:process 0 :type :ok :f :get :key "${key}" :value "${value}"`,
];

const acquire = (id: number, process: string, at: number, owner: string): object[] => [
  { type: 'invoke', id, time: at * 1e6, process, op: 'acquire', lock: 'k1', owner, ttlMillis: 100 },
  { type: 'ok', id, time: (at + 1) * 1e6, process, op: 'acquire', token: String(id) },
];

const at = (id: number, process: string, op: string, time: number, more: object = {}): object => ({
  type: 'invoke',
  id,
  time: time * 1e6,
  process,
  op,
  lock: 'k1',
  ...more,
});

const end = (type: string, id: number, process: string, op: string, time: number, more = {}): object => ({
  type,
  id,
  time: time * 1e6,
  process,
  op,
  ...more,
});

describe('which model judges', () => {
  it.each([
    ['mutex', [...both(0, 'acquire'), ...both(0, 'release')]],
    ['owned-mutex', [...both(0, 'acquire', '{:client "a"}')]],
    ['fenced-mutex', [...both(0, 'acquire', '{:client "a" :fence 3}')]],
    ['read-write-lock', [...both(0, 'acquire-read'), ...both(0, 'release')]],
    ['cas-register', [...both(0, 'write', '3'), ...both(0, 'cas', '[3 4]')]],
    ['kv', [...both(0, 'put', '"a"'), ...both(0, 'get', '"a"')]],
    ['multi-register', [...both(0, 'txn', '[[:w :x 3]]')]],
  ])('%s, if nobody says', (model, events) => {
    const { reading, verdict } = checkModel(edn(...events));
    expect(reading.model).toBe(model);
    expect(verdict).toBe('valid');
  });

  it('cannot be told of a mixture', () => {
    expect(() => checkModel(edn(...both(0, 'acquire'), ...both(0, 'write', '3')))).toThrow(
      /which model judges acquire, write\? Name one of mutex, /,
    );
  });

  it('refuses what it does not know, with the line', () => {
    const recorded = edn(...both(0, 'acquire'), ...both(0, 'increment', '3'));
    expect(() => checkModel(recorded, { model: 'mutex' })).toThrow(
      /line 3: "increment" is no operation that the model mutex judges/,
    );
  });

  it('refuses what the model does not judge', () => {
    const shared = edn(...both(0, 'acquire-read'));
    expect(() => checkModel(shared, { model: 'mutex' })).toThrow(
      /the model mutex does not know .*acquireShared/,
    );
  });

  it.each([
    ['mutexx', /there is no model "mutexx"; there are mutex, owned-mutex/],
    ['semaphore', /semaphore:3/],
    ['mutex:3', /the model mutex takes no number/],
    ['semaphore:0', /"0" is no number from 1 on/],
    ['semaphore:3:4', /no number from 1 on/],
    ['toString', /there is no model "toString"/],
  ])('refuses the name %s', (model, message) => {
    expect(() => checkModel(edn(...both(0, 'acquire')), { model })).toThrow(message);
  });

  it('knows nothing if there is nothing to judge', () => {
    const recorded = edn(...both(0, 'acquire'));
    expect(checkModel(parseRecorded(lines()), { model: 'kv' }).verdict).toBe('unknown');
    // Operations that all failed are in order whatever the order.
    const failed = edn(call(0, 'invoke', 'acquire'), call(0, 'fail', 'acquire'));
    expect(checkModel(failed, { model: 'mutex' }).verdict).toBe('valid');
    expect(checkModel(recorded, { model: 'mutex' }).verdict).toBe('valid');
  });

  it('leaves a key alone where what was written is only known to the store', () => {
    const header = { format: HISTORY_FORMAT, version: HISTORY_VERSION, meta: { stock: '10' } };
    const judged = (...events: readonly object[]): ReturnType<typeof checkHistory> =>
      checkHistory([header, ...events].map((event) => JSON.stringify(event)).join('\n'), {
        model: 'register',
      });
    const relative = written('one', { add: '-1' }, '8');
    expect(judged(...relative)).toMatchObject({
      verdict: 'unknown',
      reasons: [expect.stringContaining('one/k: not judged')],
    });
    expect(judged(...relative, ...written('two', {}, '9'))).toMatchObject({ verdict: 'unknown' });
    expect(judged(...relative, ...written('two', {}, '8'))).toMatchObject({ verdict: 'invalid' });
    // What was there at first is known.
    expect(judged(...written('one', {}, '8').slice(4))).toMatchObject({ verdict: 'invalid' });
    expect(judged(...written('one', {}, '10').slice(4))).toMatchObject({ verdict: 'valid' });
  });

  it('reads a failed release as it is told', () => {
    const recorded = edn(
      ...both(0, 'acquire'),
      call(0, 'invoke', 'release'),
      call(0, 'fail', 'release'),
      ...both(1, 'acquire'),
    );
    const verdictFor = (failedRelease: 'held' | 'unknown' | 'released'): string =>
      checkModel(recorded, { failedRelease }).verdict;
    expect(verdictFor('held')).toBe('invalid');
    expect(verdictFor('unknown')).toBe('valid');
    expect(verdictFor('released')).toBe('valid');
    expect(checkModel(recorded).reading.failedRelease).toBe('unknown');
    // One that took effect all the same leaves nothing to release.
    const twice = edn(
      ...both(0, 'acquire'),
      call(0, 'invoke', 'release'),
      call(0, 'fail', 'release'),
      ...both(0, 'release'),
    );
    expect(checkModel(twice, { failedRelease: 'unknown' }).verdict).toBe('valid');
    expect(checkModel(twice, { failedRelease: 'released' }).verdict).toBe('invalid');
  });

  it('says how far it got when the budget is spent, and that a violation elsewhere stands', () => {
    const long = Array.from({ length: 20 }, () => append('x', 'a')).flat();
    const recorded = edn(...long, ...get('x', 'a'.repeat(20)));
    expect(checkModel(recorded).verdict).toBe('valid');
    const { verdict, partitions } = checkModel(recorded, { steps: 5 });
    expect(verdict).toBe('unknown');
    expect(partitions[0]?.found).toMatchObject({ verdict: 'unknown', exhausted: 'steps' });
    const both2 = edn(...long, ...get('x', 'a'.repeat(20)), ...append('y', 'b'), ...get('y', 'c'));
    expect(checkModel(both2, { steps: 5 }).verdict).toBe('invalid');
  });
});

describe('an explanation', () => {
  it('names the operations, the prefix, the longest order and the state after it', () => {
    const recorded = parseRecorded(
      lines(
        { type: 'fault', phase: 'begin', id: 'f1', time: 5e6, fault: 'pause', targets: ['c1'] },
        ...acquire(1, 'c1', 0, 'a1'),
        ...acquire(2, 'c2', 50, 'a2'),
        ...acquire(3, 'c3', 300, 'a3'),
      ),
    );
    const { findings } = explain(recorded, checkModel(recorded));
    expect(findings).toMatchObject([
      {
        code: 'not-linearizable',
        lock: 'k1',
        processes: ['c1', 'c2'],
        ops: [1, 2],
        at: 51e6,
        faults: ['f1'],
        evidence: {
          model: 'lease-mutex',
          reason: 'held-by-another',
          refuted: { op: 2, process: 'c2', invoked: 50e6, returned: 51e6 },
          prefix: { returned: 2, of: 3, isShortest: true },
          conflict: [{ op: 1 }, { op: 2 }],
          isMinimal: true,
          context: [],
          orders: [{ length: 1, last: [{ op: 1 }], state: 'a1 has the lease of the lock' }],
        },
      },
    ]);
    expect(findings[0]?.story).toBe(
      'Lock k1 does not behave as lease-mutex (one owner at a time, until released or until the lease has run out): ' +
        'two owners held the lock at the same time. c1 acquired the lock with token 1 (op 1, 0.000 s to 0.001 s) and ' +
        'c2 acquired the lock with token 2 (op 2, 0.050 s to 0.051 s). These 2 answers contradict each other whatever ' +
        'else happened; without any one of them there would be an order. All that returned before can be put in order, ' +
        'the last being that c1 acquired the lock with token 1 (op 1, 0.000 s to 0.001 s): then a1 has the lease of ' +
        'the lock, and it cannot go on.',
    );
  });

  it('has several longest orders where search found none that goes on', () => {
    const recorded = edn(
      ':process 0 :type :invoke :f :txn :value [[:write :x 1]]',
      ':process 1 :type :invoke :f :txn :value [[:write :x 2]]',
      ':process 0 :type :ok :f :txn :value [[:write :x 1]]',
      ':process 1 :type :ok :f :txn :value [[:write :x 2]]',
      ':process 2 :type :invoke :f :txn :value [[:read :x nil]]',
      ':process 2 :type :ok :f :txn :value [[:read :x 3]]',
    );
    const [finding] = explain(recorded, checkModel(recorded)).findings;
    // Nobody wrote what was read, whoever wrote last.
    expect(finding?.ops).toEqual([2]);
    expect(finding?.evidence['orders']).toMatchObject([{ state: 'x is 2' }, { state: 'x is 1' }]);
    expect(finding?.story).toContain('process 2 at one instant read "3" in x (line 5 to line 6)');
  });
});

describe('whose operation it is', () => {
  const lease = { ttlMillis: 1000 };

  it('is not taken for proved where several attempts are open', () => {
    // c1 was granted the lock, did not release it, and asked again; nobody knows which of the two it releases.
    const events = [
      at(1, 'c1', 'acquire', 0, { owner: 'a1', ...lease }),
      end('ok', 1, 'c1', 'acquire', 1),
      at(2, 'c1', 'acquire', 10, { owner: 'a2', ...lease }),
      end('info', 2, 'c1', 'acquire', 20),
      at(3, 'c1', 'release', 30),
      end('ok', 3, 'c1', 'release', 31, { released: true }),
      at(4, 'c2', 'acquire', 40, { owner: 'b1', ...lease }),
      end('ok', 4, 'c2', 'acquire', 41),
    ];
    expect(checkModel(parseRecorded(lines(...events))).verdict).toBe('valid');
  });

  it('may be repeated by the same attempt', () => {
    const events = [
      at(1, 'c1', 'acquire', 0, { owner: 'a1', ...lease }),
      end('ok', 1, 'c1', 'acquire', 1),
      at(2, 'c1', 'release', 10),
      end('info', 2, 'c1', 'release', 20),
      at(3, 'c1', 'release', 30),
      end('ok', 3, 'c1', 'release', 31, { released: true }),
    ];
    expect(checkModel(parseRecorded(lines(...events)), { model: 'owned-mutex' }).verdict).toBe('valid');
  });

  it('promises nothing without a lease, whatever the plan said', () => {
    const [header, ...rest] = lines(
      at(1, 'c1', 'acquire', 0, { owner: 'a1' }),
      end('ok', 1, 'c1', 'acquire', 1),
      at(2, 'c2', 'acquire', 10, { owner: 'b1' }),
      end('ok', 2, 'c2', 'acquire', 11),
    ).split('\n');
    const withTtl = JSON.stringify({ ...JSON.parse(header ?? ''), meta: { ttlMillis: 1000 } });
    expect(checkModel(parseRecorded([withTtl, ...rest].join('\n'))).verdict).toBe('valid');
  });
});

const operation = (
  id: number,
  op: 'read' | 'write',
  store: string,
  token: number,
  value: string,
): object[] => [
  {
    type: 'invoke',
    id,
    time: id * 1e6,
    process: 'c1',
    op,
    store,
    key: 'x',
    token: String(token),
    ...(op === 'write' && { value }),
  },
  { type: 'ok', id, time: id * 1e6 + 1, process: 'c1', op, ...(op === 'read' && { value }) },
];

function fenced(...events: readonly object[]): Recorded {
  return parseRecorded(lines(...events));
}

/** A read with token 9, then a write with token 3, in a store of this defence. */
function afterRead(store: string): string {
  const events = [...operation(1, 'read', store, 9, '0'), ...operation(2, 'write', store, 3, '2')];
  return checkModel(fenced(...events), { model: 'fenced-store' }).verdict;
}

describe('the stores of a run', () => {
  it('are judged as fenced-store only where they fence', () => {
    const stale = [...operation(1, 'write', 'none', 9, '1'), ...operation(2, 'write', 'none', 3, '2')];
    const { verdict, partitions } = checkModel(fenced(...stale), { model: 'fenced-store' });
    expect([verdict, partitions.length]).toEqual(['unknown', 0]);
    const beside = [...stale, ...operation(3, 'write', 'fence-on-write', 9, '1')];
    const judged = checkModel(fenced(...beside), { model: 'fenced-store' });
    expect(judged.partitions.map(({ name }) => name)).toEqual(['fence-on-write/x']);
    expect(judged.verdict).toBe('valid');
  });

  it('have a mark that reads raise only where they show their token', () => {
    expect(afterRead('fence-on-write')).toBe('valid');
    expect(afterRead('fence-on-read-and-write')).toBe('invalid');
  });
});
