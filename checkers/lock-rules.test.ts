// What must hold for the lock rules together, on worlds whose service keeps every promise: no false alarm in the whole
// history nor in any prefix of it, every injected violation is found, and nothing but the evidence matters.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyWorld } from './any-world.fixture.ts';
import { containerOf } from './finding.ts';
import { tell, toldHistory, type Told } from './ideal-lock.fixture.ts';
import { againstTheLock, lockFindings } from './lock-findings.fixture.ts';
import type { Finding } from './verdict.ts';
import { grantsOf, type Grant } from '../harness/history/grants.ts';
import { assembleHistory } from '../harness/history/history.ts';
import { fencingToken, millis, nanos, type HistoryEvent } from '../harness/history/op.ts';

/** Clients that look at their deadline, and releases that check whose lock it is. */
const careful = { deadlineAware: true, blindRelease: false } as const;
/** As careful, but for the deadline. */
const naive = { deadlineAware: false, blindRelease: false } as const;

describe('a lock that keeps its promises', () => {
  it('is found clean where its clients are careful', () => {
    fc.assert(
      fc.property(anyWorld(careful), (world) => {
        expect(againstTheLock(toldHistory(tell(world)))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('is found clean in every prefix of its history: a killed run leaves no false alarm (I1)', () => {
    fc.assert(
      fc.property(anyWorld({ ...careful, untilMillis: 250 }), (world) => {
        const { header, events } = tell(world);
        for (let length = 0; length < events.length; length++)
          expect(againstTheLock(assembleHistory(header, events.slice(0, length)))).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it('is not blamed for clients that believe too long, and they did', () => {
    let overlaps = 0;
    fc.assert(
      fc.property(anyWorld(naive), (world) => {
        const told = tell(world);
        for (const { code, ops } of lockFindings(toldHistory(told))) {
          if (code === 'expired-grant') continue;
          overlaps += 1;
          expect(code).toBe('belief-overlap');
          const [a, b] = ops.map((id) => told.beliefs.get(id));
          expect(a && b && Math.max(a.from, b.from) < Math.min(a.to, b.to)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
    expect(overlaps).toBeGreaterThan(10);
  });
});

/** Puts a new process's acquire of `lock` into the history, answered `ok`. */
function intruder(
  told: Told,
  asked: { readonly lock: string; readonly invoked: number; readonly completed: number },
): Told {
  const common = { id: 1_000_000, process: 'intruder', op: 'acquire' as const };
  const events: HistoryEvent[] = [
    ...told.events,
    { ...common, type: 'invoke', time: nanos(asked.invoked), lock: asked.lock, ttlMillis: millis(100) },
    { ...common, type: 'ok', time: nanos(asked.completed) },
    { type: 'down', process: 'intruder', time: toldHistory(told).end, reason: '' },
  ];
  return { ...told, events };
}

/** A whole stamp that is `part` of the way from one to the other, exclusive of both by the clock error. */
function within(from: number, to: number, part: number): number {
  return Math.round(from + (to - from) * part);
}

describe('an injected violation is found', () => {
  const drawn = fc.tuple(anyWorld(careful), fc.nat(), fc.double({ min: 0.1, max: 0.4, noNaN: true }));

  it('a grant inside a tenure', () => {
    let injected = 0;
    fc.assert(
      fc.property(drawn, ([world, choice, part]) => {
        const told = tell(world);
        const error = told.header.clockErrorNanos;
        const roomy = grantsOf(toldHistory(told)).filter(
          ({ tenure }) => tenure.end - tenure.start > 5e6 + 4 * error,
        );
        const victim = roomy[choice % roomy.length];
        if (victim === undefined) return;
        injected += 1;
        const { start, end } = victim.tenure;
        const invoked = within(start + 2 * error, end - 2 * error, part);
        const completed = within(start + 2 * error, end - 2 * error, part * 2);
        const found = lockFindings(toldHistory(intruder(told, { lock: victim.lock, invoked, completed })));
        expect(
          found.filter(({ code }) => code === 'double-grant').map(({ ops }) => [ops[0], ops.at(-1)]),
        ).toContainEqual([victim.acquire.id, 1_000_000]);
      }),
      { numRuns: 150 },
    );
    expect(injected).toBeGreaterThan(50);
  });

  it('a hold that begins inside another', () => {
    let injected = 0;
    fc.assert(
      fc.property(drawn, ([world, choice, part]) => {
        const told = tell(world);
        const error = told.header.clockErrorNanos;
        const roomy = grantsOf(toldHistory(told)).filter(
          ({ hold }) => hold.end - hold.start > 5e6 + 4 * error,
        );
        const victim = roomy[choice % roomy.length];
        if (victim === undefined) return;
        injected += 1;
        const { start, end } = victim.hold;
        // Asked for so early that its own lease proves nothing.
        const asked = { lock: victim.lock, invoked: start - 10e9, completed: within(start, end, part) };
        const found = lockFindings(toldHistory(intruder(told, asked)));
        expect(found.filter(({ code }) => code === 'belief-overlap').map(({ ops }) => ops)).toContainEqual([
          victim.acquire.id,
          1_000_000,
        ]);
      }),
      { numRuns: 150 },
    );
    expect(injected).toBeGreaterThan(50);
  });

  it('two tokens changed for one another', () => {
    let injected = 0;
    fc.assert(
      fc.property(drawn, ([world, choice]) => {
        const told = tell(world);
        const error = told.header.clockErrorNanos;
        const grants = grantsOf(toldHistory(told));
        const pairs = grants.flatMap((a, index) => {
          const b = grants.slice(index + 1).find(({ lock }) => lock === a.lock);
          return b !== undefined && answered(a) + error < b.acquire.invoked - error ? [[a, b] as const] : [];
        });
        const pair = pairs[choice % pairs.length];
        if (pair === undefined) return;
        injected += 1;
        const [a, b] = pair;
        const swap = new Map([
          [a.acquire.id, b.token ?? fencingToken('0')],
          [b.acquire.id, a.token ?? fencingToken('0')],
        ]);
        const events = told.events.map((event): HistoryEvent => {
          const token = event.type === 'ok' ? swap.get(event.id) : undefined;
          return event.type === 'ok' && token !== undefined ? { ...event, token } : event;
        });
        const found = lockFindings(toldHistory({ ...told, events }));
        expect(found.filter(({ code }) => code === 'token-regression').flatMap(({ ops }) => ops)).toContain(
          b.acquire.id,
        );
      }),
      { numRuns: 150 },
    );
    expect(injected).toBeGreaterThan(50);
  });
});

function answered({ acquire }: Grant): number {
  return acquire.completed ?? Infinity;
}

function process(event: HistoryEvent): string {
  return 'process' in event ? event.process : '';
}

/** The same events in another file order, in which those of each process, and the faults, keep theirs. */
function shuffled(events: readonly HistoryEvent[], seed: number): HistoryEvent[] {
  const queues = [...Map.groupBy(events, process).values()].map((queue) => [...queue]);
  const order: HistoryEvent[] = [];
  for (let state = seed; queues.some((queue) => queue.length > 0);) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    const waiting = queues.filter((queue) => queue.length > 0);
    const next = waiting[state % waiting.length]?.shift();
    if (next !== undefined) order.push(next);
  }
  return order;
}

function renameProcess(name: string): string {
  const container = containerOf(name);
  return `node-${9 - Number(container.slice(1))}${name.slice(container.length)}`;
}

/** The names turned around, so that they sort another way. */
function renameIn<Named extends HistoryEvent | Finding>(named: Named): Named {
  return {
    ...named,
    ...('process' in named && { process: renameProcess(named.process) }),
    ...('processes' in named && { processes: named.processes.map(renameProcess) }),
    ...('targets' in named && { targets: named.targets.map(renameProcess) }),
    ...('lock' in named && { lock: named.lock === 'k1' ? 'z' : 'a' }),
  };
}

/** What a finding says apart from its words and the id that comes from the names. */
function facts(found: readonly Finding[]): string[] {
  return found
    .map(({ code, ops, at, faults, lock, processes }) =>
      JSON.stringify({ code, ops, at, faults, lock, processes }),
    )
    .toSorted();
}

describe('what is no evidence changes nothing', () => {
  it('the order in which the coordinator learned of other processes', () => {
    fc.assert(
      fc.property(anyWorld(), fc.nat(), (world, seed) => {
        const told = tell(world);
        const another = toldHistory({ ...told, events: shuffled(told.events, seed) });
        expect(lockFindings(another)).toEqual(lockFindings(toldHistory(told)));
      }),
      { numRuns: 100 },
    );
  });

  it('the names of processes and locks', () => {
    fc.assert(
      fc.property(anyWorld(), (world) => {
        const told = tell(world);
        const renamed = { ...told, events: told.events.map(renameIn) };
        expect(facts(lockFindings(toldHistory(renamed)))).toEqual(
          facts(lockFindings(toldHistory(told)).map(renameIn)),
        );
      }),
      { numRuns: 100 },
    );
  });
});
