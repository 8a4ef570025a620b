// A session in memory for tests of session scripts: one store that takes every write, a lock that is granted unless the
// script says otherwise, and time that only moves when somebody sleeps. Everything that was done is in `calls`.

import type { HeldLock, Session, Update } from '../harness/contract/workload.ts';
import { nanos, nanosOf, millis, type Outcome } from '../harness/history/op.ts';

export interface FakeScript {
  readonly defences: readonly string[];
  readonly stock?: string;
  /** Of each `random.integer`, in order; the last one again and again. */
  readonly integers?: readonly number[];
  /** What the client is told of each write, in order; `ok` if absent. What is not `fail` takes effect. */
  readonly outcomes?: readonly Outcome[];
  /** How many attempts are refused at first. */
  readonly busy?: number;
  readonly lost?: boolean;
  readonly locks?: readonly string[];
  /** Of several the last one is picked, not the first. */
  readonly picksLast?: boolean;
}

export interface FakeSession extends Session {
  readonly calls: readonly string[];
  stop(): void;
}

export function fakeSession(script: FakeScript): FakeSession {
  const calls: string[] = [];
  const registers = new Map<string, { value: string; version: number; orders: string[] }>();
  let [now, stopping, fresh, drawn, wrote, asked] = [0, false, 0, 0, 0, 0];
  const register = (defence: string, key: string) => {
    const name = `${defence} ${key}`;
    const found = registers.get(name) ?? { value: script.stock ?? '0', version: 0, orders: [] };
    registers.set(name, found);
    return found;
  };
  const grant = (lock: string, how = 'acquire'): HeldLock | undefined => {
    asked += 1;
    const granted = asked > (script.busy ?? 0);
    calls.push(`${granted ? how : 'busy'} ${lock}`);
    return granted ? { lock, lost: script.lost === true } : undefined;
  };
  const apply = (defence: string, key: string, { value, order }: Update): void => {
    const found = register(defence, key);
    found.value = value;
    found.version += 1;
    if (order !== undefined) found.orders.push(order);
  };
  return {
    calls,
    stop: () => {
      stopping = true;
    },
    random: {
      integer: (_min, max) => script.integers?.[Math.min(drawn++, script.integers.length - 1)] ?? max,
      real: (min) => min,
      pick: (items) => {
        const picked = items.at(script.picksLast === true ? -1 : 0);
        if (picked === undefined) throw new RangeError('cannot pick from nothing');
        return picked;
      },
    },
    locks: script.locks ?? ['k1', 'k2'],
    defences: script.defences,
    get stopping() {
      return stopping;
    },
    now: () => nanos(now),
    async sleepUntil(time) {
      now = Math.max(now, time);
    },
    fresh: () => String((fresh += 1)),
    tryAcquire: async (lock) => grant(lock),
    acquire: async (lock) => grant(lock),
    acquireShared: async (lock) => grant(lock, 'share'),
    reenter: async ({ lock }) => grant(lock, 'reenter'),
    async release({ lock }) {
      calls.push(`release ${lock}`);
    },
    async think() {
      now += nanosOf(millis(10));
    },
    async read(defence, key, _held, order) {
      const { value, version, orders } = register(defence, key);
      calls.push(`read ${defence} ${key}`);
      return {
        value,
        version: String(version),
        ...(order !== undefined && { applied: orders.includes(order) }),
      };
    },
    async write(defence, key, _held, update) {
      const outcome = script.outcomes?.[wrote++] ?? 'ok';
      calls.push(
        `write ${defence} ${key} ${update.value} from ${update.base}${update.order === undefined ? '' : ` for ${update.order}`}`,
      );
      if (outcome !== 'fail') apply(defence, key, update);
      return outcome;
    },
  };
}
