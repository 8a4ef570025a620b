// The store rules against a small true world: processes that are granted a lock at true instants, rightly or not, and
// read and write stores that act at true instants; the history has only coarse stamps of it, so many are equal. What a
// rule finds must be true in that world, with the store's record and without it; with it nothing of a loss is missed.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { grantColumnsOf } from '../harness/history/grants.ts';
import { assembleHistory, type History } from '../harness/history/history.ts';
import { fencingToken, nanos, type AuditRow, type HistoryEvent, type Invoke } from '../harness/history/op.ts';
import { registersOf } from './audit.ts';
import { chance } from './ideal-lock.fixture.ts';
import { lostUpdate } from './lost-update.ts';
import { staleWrite } from './stale-write.ts';
import { storeFencing } from './store-fencing.ts';
import type { RuleResult } from './verdict.ts';

const STORES = ['none', 'fence-on-write', 'fence-on-read-and-write'] as const;
type Store = (typeof STORES)[number];

interface World {
  readonly seed: number;
  readonly clockError: number;
  /** Part of the checks of a token that the store forgets. */
  readonly leaks: number;
  /** Grants tell their tokens. */
  readonly tokens: boolean;
}

interface Told {
  readonly history: History;
  readonly withoutRecord: History;
  /** Ids of writes that overwrote what their writer had not seen. */
  readonly lost: ReadonlySet<number>;
  /** Ids of writes accepted below the mark. */
  readonly staleAccepted: ReadonlySet<number>;
  /** Ids of writes that landed in the unfenced store under a grant that another process's had followed, or had beside it. */
  readonly staleLanded: ReadonlySet<number>;
}

interface Grant {
  readonly process: string;
  readonly at: number;
  readonly token: number;
  /** When it was released. */
  over: number;
}

/** Runs the world and tells what came of it. */
function tell({ seed, clockError, leaks, tokens }: World): Told {
  const random = chance(seed);
  const grants: Grant[] = [];
  const effects: { at: number; act: () => void }[] = [];
  const events: HistoryEvent[] = [];
  const registers = new Map(
    STORES.map((store) => [store, { version: 0, mark: 0, rows: [] as AuditRow[], accepted: [] as string[] }]),
  );
  const [lost, staleAccepted, staleLanded] = [new Set<number>(), new Set<number>(), new Set<number>()];
  let nextId = 1;
  let end = 0;

  for (const process of ['c1', 'c2', 'c3']) {
    const offset = clockError * (2 * random() - 1);
    let now = 10 * random();
    const stamp = (time: number): ReturnType<typeof nanos> => nanos(Math.floor(time + offset + clockError));
    /** One operation of this process; `act` runs at its true instant and says what was answered. */
    const operate = (
      asked: Pick<Invoke, 'op' | 'lock' | 'store' | 'key'>,
      act: (id: number, at: number) => { asks?: object; type: 'ok' | 'fail'; gets?: object },
    ): void => {
      const id = nextId++;
      const [invoked, took] = [now, 6 * random()];
      const unanswered = random() < 0.15;
      const never = unanswered && random() < 0.3;
      const at = invoked + (unanswered ? 60 : took) * random();
      now += took;
      const completed = now;
      now += 3 * random();
      end = Math.max(end, at, now);
      effects.push({
        at,
        act: () => {
          const { asks, type, gets } = never ? { type: 'fail' as const } : act(id, at);
          const done = { id, process, op: asked.op };
          events.push({ type: 'invoke', time: stamp(invoked), ...done, ...asked, ...asks });
          if (!unanswered) events.push({ type, time: stamp(completed), ...done, ...gets });
          else if (random() < 0.5) events.push({ type: 'info', time: stamp(completed), ...done });
        },
      });
    };

    for (let turn = 0; turn < 3; turn++) {
      let held: Grant | undefined;
      operate({ op: 'acquire', lock: 'k' }, (_, at) => {
        const token = grants.length + 1;
        held = { process, at, token, over: Infinity };
        grants.push(held);
        return { type: 'ok', gets: tokens ? { token: fencingToken(String(token)) } : {} };
      });
      const bases = new Map<Store, number>();
      for (const store of STORES)
        operate({ op: 'read', store, key: 'k' }, () => {
          const register = registers.get(store);
          if (register === undefined || held === undefined) return { type: 'fail' };
          const asks = { token: fencingToken(String(held.token)) };
          if (store === 'fence-on-read-and-write') {
            if (held.token < register.mark && random() >= leaks) return { asks, type: 'fail' };
            register.mark = Math.max(register.mark, held.token);
          }
          bases.set(store, register.version);
          return { asks, type: 'ok', gets: { version: String(register.version) } };
        });
      now += 20 * random();
      for (const store of STORES)
        operate({ op: 'write', store, key: 'k' }, (id, at) => {
          const register = registers.get(store);
          const base = bases.get(store);
          if (register === undefined || held === undefined || base === undefined)
            return { asks: { value: 'x' }, type: 'fail' };
          const [token, value] = [fencingToken(String(held.token)), `v${Math.floor(3 * random())}`];
          const { version } = register;
          const below = held.token < register.mark;
          const accepted = store === 'none' || !below || random() < leaks;
          register.rows.push({
            seq: String(register.rows.length),
            id,
            process,
            token,
            base: String(base),
            version: String(version),
            value,
            accepted,
          });
          const asks = { token, value, base: String(base) };
          if (!accepted) return { asks, type: 'fail' };
          register.version++;
          register.mark = Math.max(register.mark, held.token);
          if (base !== version) lost.add(id);
          if (below && store !== 'none') staleAccepted.add(id);
          const { at: granted } = held;
          const followed = grants.some(
            (other) =>
              other.process !== process &&
              other.at < at &&
              (other.at > granted || (!tokens && other.over > granted)),
          );
          if (followed && store === 'none') staleLanded.add(id);
          return { asks, type: 'ok', gets: { version: String(version + 1) } };
        });
      if (random() < 0.5)
        operate({ op: 'release', lock: 'k' }, (_, at) => {
          if (held !== undefined) held.over = at;
          return { type: 'ok' };
        });
    }
  }
  for (const { act } of effects.toSorted((a, b) => a.at - b.at)) act();

  const finalReads = STORES.flatMap((store): HistoryEvent[] => {
    const read = { id: nextId++, process: 'c0', op: 'read' as const };
    const time = nanos(Math.ceil(end) + 4 * clockError + 1);
    const audit = registers.get(store)?.rows ?? [];
    return [
      { type: 'invoke', time, ...read, store, key: 'k' },
      { type: 'ok', time, ...read, audit },
    ];
  });
  const header = {
    format: 'lockpick-history',
    version: 1,
    clock: 'shared',
    clockErrorNanos: clockError,
    meta: {},
  } as const;
  return {
    history: assembleHistory(header, [...events, ...finalReads]),
    withoutRecord: assembleHistory(header, events),
    lost,
    staleAccepted,
    staleLanded,
  };
}

/** The writes that a rule blames. */
function blamed(result: RuleResult): number[] {
  if (result.verdict === 'unknown') throw new Error(result.reason);
  const findings = result.verdict === 'valid' ? [] : result.findings;
  return findings.map(({ code, ops, evidence }) => {
    // A late write names what proves it late behind itself.
    const written = code === 'stale-write-landed' ? ops[2] : ops.at(-1);
    expect(evidence['key']).toBe('k');
    return written ?? NaN;
  });
}

function contains(truth: ReadonlySet<number>, found: readonly number[]): boolean {
  return found.every((id) => truth.has(id));
}

const worlds = fc.record({
  seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  clockError: fc.constantFrom(0, 0, 3),
  leaks: fc.constantFrom(0, 0.3),
  tokens: fc.boolean(),
});

describe('the store rules in a true world', () => {
  it('find nothing that is not so, and with the record every loss', () => {
    const seen = { lost: 0, accepted: 0, landed: 0, lostBlind: 0, acceptedBlind: 0, landedBlind: 0 };
    fc.assert(
      fc.property(worlds, (world) => {
        const { history, withoutRecord, ...truth } = tell(world);
        expect(registersOf(history).map(({ flaw }) => flaw)).toEqual(STORES.map(() => undefined));

        const lost = blamed(lostUpdate(history));
        expect(new Set(lost)).toEqual(truth.lost);
        const accepted = blamed(storeFencing(history));
        expect(contains(truth.staleAccepted, accepted)).toBe(true);
        const landed = blamed(staleWrite(history, grantColumnsOf(history)));
        expect(contains(truth.staleLanded, landed)).toBe(true);

        // Of two writes from one base either may be named last; one of the two is at fault.
        const lostBlind = lostUpdate(withoutRecord);
        const pairs = lostBlind.verdict === 'invalid' ? lostBlind.findings : [];
        expect(pairs.every(({ ops }) => ops.some((id) => truth.lost.has(id)))).toBe(true);
        const acceptedBlind = blamed(storeFencing(withoutRecord));
        expect(contains(truth.staleAccepted, acceptedBlind)).toBe(true);
        const landedBlind = blamed(staleWrite(withoutRecord, grantColumnsOf(withoutRecord)));
        expect(contains(new Set(landed), landedBlind)).toBe(true);

        seen.lost += lost.length;
        seen.accepted += accepted.length;
        seen.landed += landed.length;
        seen.lostBlind += pairs.length;
        seen.acceptedBlind += acceptedBlind.length;
        seen.landedBlind += landedBlind.length;
      }),
      { numRuns: 1_000 },
    );
    expect(Object.values(seen).every((count) => count > 100)).toBe(true);
  });
});
