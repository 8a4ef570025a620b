// Histories to measure with: clients of one service that keeps its promise, simulated event by event, and the line
// that a journal would hold for each event. Everything follows from the seed. A violation is one event that the
// service must not answer, at seven tenths of the history, so the verdict of a file is known before it is judged.
// Knows the format of a history and no checker.

import { encodeEvent, encodeHeader } from '../harness/history/encode-event.ts';
import {
  fencingToken,
  nanos,
  type Completion,
  type HistoryEvent,
  type Invoke,
} from '../harness/history/op.ts';
import type { Random } from '../harness/contract/workload.ts';
import { randomStream } from '../harness/rng.ts';

export interface Shape {
  /** `lock`: acquire and release. `register`: read and write. */
  readonly of: 'lock' | 'register';
  readonly seed: string;
  readonly operations: number;
  readonly clients: number;
  /** Locks, or keys of the store. */
  readonly names: number;
  /** Part of the operations whose outcome the client never learns. */
  readonly unknown: number;
  /** Part of the operations that are tries refused because the lock is held. */
  readonly failed: number;
  /** Of a register: how many different values are written; Infinity: each write has its own. */
  readonly values: number;
  /** `overlap`: a lock given twice, or a read of a value long overwritten. `token-swap`: two tokens in the wrong order. */
  readonly violation: 'none' | 'overlap' | 'token-swap';
}

/** The lines of the history of `shape`, header first, without line breaks. */
export function* linesOf(shape: Shape): Generator<string> {
  yield encodeHeader({
    format: 'lockpick-history',
    version: 1,
    clock: 'shared',
    clockErrorNanos: 0,
    meta: { backend: 'generated', recipe: shape.of, seed: shape.seed },
  });
  for (const event of shape.of === 'lock' ? lockEvents(shape) : registerEvents(shape))
    yield encodeEvent(event);
}

/** Where in the history a violation stands. */
const VIOLATION_AT = 0.7;
/** Nanoseconds: on the way to the service or back; between operations; for which a lock is held. */
const TRAVEL = [10_000, 200_000] as const;
const THINK = [100_000, 1_000_000] as const;
const HOLD = [200_000, 2_000_000] as const;

/** What is to happen, in order of time; ties in order of insertion. */
interface Agenda {
  add(time: number, happen: () => Iterable<HistoryEvent>): void;
  run(): Generator<HistoryEvent>;
}

function agenda(): Agenda {
  interface Entry {
    readonly time: number;
    readonly order: number;
    readonly happen: () => Iterable<HistoryEvent>;
  }
  const heap: Entry[] = [];
  let order = 0;
  const before = (a: Entry, b: Entry): boolean => a.time < b.time || (a.time === b.time && a.order < b.order);
  const sink = (entry: Entry): void => {
    let place = 0;
    for (;;) {
      const [left, right] = [heap[2 * place + 1], heap[2 * place + 2]];
      if (left === undefined) break;
      const child = right !== undefined && before(right, left) ? 2 * place + 2 : 2 * place + 1;
      const smaller = heap[child];
      if (smaller === undefined || before(entry, smaller)) break;
      heap[place] = smaller;
      place = child;
    }
    heap[place] = entry;
  };
  return {
    add(time, happen) {
      const entry = { time, order: order++, happen };
      let place = heap.length;
      for (let parent = (place - 1) >> 1; place > 0; parent = (place - 1) >> 1) {
        const above = heap[parent];
        if (above === undefined || before(above, entry)) break;
        heap[place] = above;
        place = parent;
      }
      heap[place] = entry;
    },
    *run() {
      for (let first = heap[0]; first !== undefined; first = heap[0]) {
        const last = heap.pop();
        if (last !== undefined && last !== first) sink(last);
        yield* first.happen();
      }
    },
  };
}

interface Attempt {
  readonly id: number;
  readonly process: string;
  readonly lock: Lock;
  readonly unknown: boolean;
}

interface Lock {
  readonly name: string;
  holder: Attempt | undefined;
  /** From when to when the holder certainly has it. */
  heldFrom: number;
  heldTo: number;
  readonly waiting: Attempt[];
  tokens: number;
  /** The last token given, where the next is to be the one before it. */
  swapped: number | undefined;
}

function* lockEvents({
  seed,
  operations,
  clients,
  names,
  unknown,
  failed,
  violation,
}: Shape): Generator<HistoryEvent> {
  const random = randomStream(seed, 'lock');
  const toCome = agenda();
  const locks = Array.from({ length: names }, (_, index): Lock => ({
    name: `k${index}`,
    holder: undefined,
    heldFrom: 0,
    heldTo: 0,
    waiting: [],
    tokens: 0,
    swapped: undefined,
  }));
  let invoked = 0;
  let refused = 0;
  let violated = violation === 'none';
  const isDue = (): boolean => !violated && invoked >= operations * VIOLATION_AT;
  const invoke = (now: number, rest: Pick<Invoke, 'process' | 'op' | 'lock'> & Partial<Invoke>): Invoke => ({
    type: 'invoke',
    id: ++invoked,
    time: nanos(now),
    ...rest,
  });

  /** An answer that is never learned shows no token, so two that change places are given to others. */
  const tokenOf = (lock: Lock, { unknown: isUnseen }: Pick<Attempt, 'unknown'>): number => {
    if (lock.swapped !== undefined && !isUnseen) {
      const token = lock.swapped;
      lock.swapped = undefined;
      return token;
    }
    if (isDue() && violation === 'token-swap' && !isUnseen) {
      violated = true;
      lock.swapped = lock.tokens + 1;
      lock.tokens += 2;
      return lock.tokens;
    }
    return ++lock.tokens;
  };

  const grant = (now: number, attempt: Attempt): void => {
    const { lock, process, id } = attempt;
    const answered = now + random.integer(...TRAVEL);
    const released = answered + random.integer(...HOLD);
    lock.holder = attempt;
    lock.heldFrom = answered;
    lock.heldTo = released;
    const token = fencingToken(String(tokenOf(lock, attempt)));
    toCome.add(answered, () => [
      attempt.unknown
        ? completion('info', { id, time: answered, process, op: 'acquire', error: 'timeout' })
        : completion('ok', { id, time: answered, process, op: 'acquire', token }),
    ]);
    toCome.add(released, () => release(released, attempt));
  };

  function* release(now: number, { lock, process }: Attempt): Generator<HistoryEvent> {
    const event = invoke(now, { process, op: 'release', lock: lock.name });
    yield event;
    const isUnknown = chance(random, unknown);
    const done = now + random.integer(...TRAVEL);
    const answered = done + random.integer(...TRAVEL);
    toCome.add(done, () => {
      lock.holder = undefined;
      const next = lock.waiting.shift();
      if (next !== undefined) grant(done, next);
      return [];
    });
    toCome.add(answered, () => [
      isUnknown
        ? completion('info', { id: event.id, time: answered, process, op: 'release', error: 'timeout' })
        : completion('ok', { id: event.id, time: answered, process, op: 'release', released: true }),
    ]);
    thinkThenAsk(answered, process);
  }

  const thinkThenAsk = (now: number, process: string): void => {
    const asks = now + random.integer(...THINK);
    toCome.add(asks, () => (invoked < operations ? ask(asks, process) : []));
  };

  function* ask(now: number, process: string): Generator<HistoryEvent> {
    const lock = random.pick(locks);
    if (isDue() && violation === 'overlap' && lock.heldFrom < now && now + 4 < lock.heldTo) {
      violated = true;
      yield* intrusion(now, process, lock);
      return;
    }
    const owner = `${process}-${invoked + 1}`;
    const arrives = now + random.integer(...TRAVEL);
    if (refused < failed * invoked && lock.heldFrom < now && arrives < lock.heldTo) {
      refused += 1;
      const event = invoke(now, { process, op: 'acquire', lock: lock.name, try: true, owner });
      yield event;
      const answered = arrives + random.integer(...TRAVEL);
      toCome.add(answered, () => [
        completion('fail', { id: event.id, time: answered, process, op: 'acquire', error: 'busy' }),
      ]);
      thinkThenAsk(answered, process);
      return;
    }
    const event = invoke(now, { process, op: 'acquire', lock: lock.name, owner });
    yield event;
    const attempt: Attempt = { id: event.id, process, lock, unknown: chance(random, unknown) };
    if (attempt.unknown && chance(random, 0.5)) {
      // It never arrives.
      toCome.add(arrives, () => [
        completion('info', { id: event.id, time: arrives, process, op: 'acquire', error: 'timeout' }),
      ]);
      thinkThenAsk(arrives, process);
      return;
    }
    toCome.add(arrives, () => {
      if (lock.holder === undefined) grant(arrives, attempt);
      else lock.waiting.push(attempt);
      return [];
    });
  }

  /** The lock is given to `process` for a moment while another certainly has it. */
  function* intrusion(now: number, process: string, lock: Lock): Generator<HistoryEvent> {
    const token = fencingToken(String(tokenOf(lock, { unknown: false })));
    const acquire = invoke(now, {
      process,
      op: 'acquire',
      lock: lock.name,
      owner: `${process}-${invoked + 1}`,
    });
    yield acquire;
    yield completion('ok', { id: acquire.id, time: now + 1, process, op: 'acquire', token });
    const released = invoke(now + 2, { process, op: 'release', lock: lock.name });
    yield released;
    yield completion('ok', { id: released.id, time: now + 3, process, op: 'release', released: true });
    thinkThenAsk(now + 3, process);
  }

  for (let client = 1; client <= clients; client++) thinkThenAsk(0, `c${client}`);
  yield* toCome.run();
}

interface Cell {
  readonly name: string;
  value: string;
  /** Values of writes in order of taking effect. */
  readonly written: string[];
}

function* registerEvents({
  seed,
  operations,
  clients,
  names,
  unknown,
  values,
  violation,
}: Shape): Generator<HistoryEvent> {
  const random = randomStream(seed, 'register');
  const toCome = agenda();
  const cells = Array.from({ length: names }, (_, index): Cell => ({
    name: `k${index}`,
    value: '0',
    written: [],
  }));
  let invoked = 0;
  let writes = 0;
  let violated = violation === 'none';
  /** Whoever reads one of these may be right: its write may take effect at any time. */
  const uncertain = new Set<string>();

  const thinkThenAct = (now: number, process: string): void => {
    const acts = now + random.integer(...THINK);
    toCome.add(acts, () => (invoked < operations ? act(acts, process) : []));
  };
  const stale = (cell: Cell): string | undefined => {
    const overwritten = cell.written.slice(0, -STALE_WRITES * clients);
    const recent = new Set(cell.written.slice(-STALE_WRITES * clients));
    return overwritten.findLast((value) => !uncertain.has(value) && !recent.has(value));
  };

  function* act(now: number, process: string): Generator<HistoryEvent> {
    const cell = random.pick(cells);
    const isWrite = chance(random, 0.5);
    const id = ++invoked;
    const op = isWrite ? 'write' : 'read';
    const value = isWrite ? String((writes++ % values) + 1) : undefined;
    yield {
      type: 'invoke',
      id,
      time: nanos(now),
      process,
      op,
      store: 'none',
      key: cell.name,
      ...(value !== undefined && { value }),
    };
    const done = now + random.integer(...TRAVEL);
    const answered = done + random.integer(...TRAVEL);
    const isUnknown = chance(random, unknown);
    const isLost = isUnknown && chance(random, 0.5);
    if (isUnknown && value !== undefined) uncertain.add(value);
    let seen = '';
    toCome.add(done, () => {
      if (value === undefined) seen = cell.value;
      else if (!isLost) {
        cell.value = value;
        cell.written.push(value);
        if (cell.written.length > 4 * STALE_WRITES * clients) cell.written.shift();
      }
      if (!isWrite && !isUnknown && !violated && id >= operations * VIOLATION_AT) {
        const old = stale(cell);
        violated = old !== undefined;
        seen = old ?? seen;
      }
      return [];
    });
    toCome.add(answered, () => [
      isUnknown
        ? completion('info', { id, time: answered, process, op, error: 'timeout' })
        : completion('ok', { id, time: answered, process, op, ...(isWrite ? {} : { value: seen }) }),
    ]);
    thinkThenAct(answered, process);
  }

  for (let client = 1; client <= clients; client++) thinkThenAct(0, `c${client}`);
  yield* toCome.run();
}

/** A value counts as long overwritten after so many writes of each client. */
const STALE_WRITES = 3;

function completion(
  type: Completion['type'],
  { id, time, ...rest }: Omit<Completion, 'type' | 'time'> & { readonly time: number },
): Completion {
  return { type, id, time: nanos(time), ...rest };
}

function chance(random: Random, part: number): boolean {
  return random.real(0, 1) < part;
}
