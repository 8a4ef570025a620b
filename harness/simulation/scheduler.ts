// Virtual time: a heap of events, ordered by time and then by when they were put there, of which one after another
// happens. Between two of them every promise that can settle does. Nothing here reads a clock of the machine or draws by
// chance, so the same events in give the same events out. Knows no processes and no network.

import { nanos, type Nanos } from '../history/op.ts';
import { withoutMachine } from './no-machine.ts';

export interface Scheduler {
  /** Since the beginning of the simulation. */
  readonly now: Nanos;
  /** Events that have happened so far. */
  readonly happened: number;
  /** Lets `action` happen at `time`, or now if that is past. */
  at(time: number, action: () => void, kind?: Kind): void;
  /** The same; what it returns calls it off. */
  timer(time: number, action: () => void, kind?: Kind): () => void;
  /**
   * Lets time pass until what `main` returns has settled, and settles as it does. Throws if nothing more can happen
   * before.
   */
  run<T>(main: () => Promise<T>): Promise<T>;
}

/** `quiet`: no promise can settle because of it, so nothing has to be waited for until the next one. */
export type Kind = 'quiet';

interface Entry {
  readonly time: number;
  readonly order: number;
  readonly kind: Kind | undefined;
  /** undefined: called off. */
  action: (() => void) | undefined;
}

/** Turns of the machine's event loop are not free: so many events share one. Signals are heard between two of them. */
const EVENTS_A_TURN = 1_024;
const SETTLED = Promise.resolve();

export function openScheduler(): Scheduler {
  const heap: Entry[] = [];
  let now = 0;
  let order = 0;
  let happened = 0;

  const put = (time: number, action: () => void, kind: Kind | undefined): Entry => {
    const entry: Entry = { time: Math.max(now, Math.round(time)), order: order++, kind, action };
    push(heap, entry);
    return entry;
  };
  const next = (): Entry | undefined => {
    for (let entry = pop(heap); entry !== undefined; entry = pop(heap))
      if (entry.action !== undefined) return entry;
    return undefined;
  };

  return {
    get now() {
      return nanos(now);
    },
    get happened() {
      return happened;
    },
    at: (time, action, kind) => void put(time, action, kind),
    timer(time, action, kind) {
      const entry = put(time, action, kind);
      return () => {
        entry.action = undefined;
      };
    },
    run: <T>(main: () => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        let over = false;
        let guard: Disposable | undefined;
        const leave = (): void => {
          guard?.[Symbol.dispose]();
          guard = undefined;
        };
        const end = (settle: () => void): void => {
          over = true;
          leave();
          settle();
        };
        const step = (): void => {
          if (over) return;
          guard ??= withoutMachine();
          let entry: Entry | undefined;
          do {
            entry = next();
            if (entry === undefined)
              return end(() => reject(new Error(`the simulation stands still at ${now / 1e6} ms`)));
            now = entry.time;
            happened += 1;
            try {
              entry.action?.();
            } catch (error) {
              return end(() => reject(error));
            }
          } while (entry.kind === 'quiet' && happened % EVENTS_A_TURN !== 0);
          void SETTLED.then(onceSettled);
        };
        // Runs among the promises; Node begins a tick when none of them can settle any more (lib/internal/process/
        // task_queues.js, processTicksAndRejections), which takes half the time of another turn of the event loop.
        const onceSettled = (): void => process.nextTick(happened % EVENTS_A_TURN === 0 ? nextTurn : step);
        const nextTurn = (): void => {
          leave();
          setImmediate(step);
        };
        guard = withoutMachine();
        main().then(
          (value) => end(() => resolve(value)),
          (error: unknown) => end(() => reject(error)),
        );
        void SETTLED.then(onceSettled);
      }),
  };
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.time === b.time ? a.order < b.order : a.time < b.time;
}

function push(heap: Entry[], entry: Entry): void {
  let index = heap.length;
  heap.push(entry);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || isBefore(above, entry)) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = entry;
}

function pop(heap: Entry[]): Entry | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    const left = heap[child];
    if (left === undefined) break;
    const right = heap[child + 1];
    let least = left;
    if (right !== undefined && isBefore(right, left)) {
      least = right;
      child += 1;
    }
    if (isBefore(last, least)) break;
    heap[index] = least;
    index = child;
  }
  heap[index] = last;
  return first;
}
