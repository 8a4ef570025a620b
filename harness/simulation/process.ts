// One operating-system process on virtual time: it can be stopped, resumed and ended, and has a clock of its own. While
// it is stopped what is due waits. When it goes on, due timers run before its sockets are read, as in a Node process
// that gets SIGCONT; so a client can write before it learns that it has lost its lock. Knows no network.

import type { Clock, Timer } from '../clock.ts';
import { nanos, nanosOf, type Nanos } from '../history/op.ts';
import type { Kind, Scheduler } from './scheduler.ts';
import { sleepOn } from './sleep.ts';
import type { WallClock } from './wall-clock.ts';

export interface SimulatedProcess {
  readonly pid: number;
  readonly state: 'running' | 'stopped' | 'ended';
  readonly exitCode: number;
  /** What happens to it is of this kind. */
  readonly kind: Kind | undefined;
  /** Whether it gets to do anything: it neither was stopped nor has ended, and is granted a processor. */
  readonly runs: boolean;
  /** Settles nothing and cannot be called off: what happens to it from outside, such as what a socket brings. */
  receive(action: () => void): void;
  readonly after: Timer;
  /** By the clock that all processes share. */
  now(): Nanos;
  /** Milliseconds since 1970, as it takes it. */
  wallMillis(): number;
  /** Counts from `origin`. */
  clock(origin: number): Clock;
  stop(): void;
  resume(): void;
  /** Whether it gets the processor. One that does not runs as little as one that is stopped, and is not in that state. */
  starve(denied: 'denied' | 'granted'): void;
  end(exitCode: number): void;
  /** Called once, when it has ended. */
  onEnd(listener: () => void): void;
}

/** `kind`: quiet, if its program is callbacks alone. */
export function startProcess(
  scheduler: Scheduler,
  pid: number,
  wall: WallClock,
  kind?: Kind,
): SimulatedProcess {
  let state: SimulatedProcess['state'] = 'running';
  let isStarved = false;
  let exitCode = 0;
  let dueTimers: (() => void)[] = [];
  let unread: (() => void)[] = [];
  const ends: (() => void)[] = [];

  const runs = (): boolean => state === 'running' && !isStarved;
  const goOn = (): void => {
    if (!runs()) return;
    const timers = dueTimers;
    const messages = unread;
    dueTimers = [];
    unread = [];
    for (const due of timers) scheduler.at(scheduler.now, due, kind);
    for (const action of messages) scheduler.at(scheduler.now, () => receive(action), kind);
  };
  const receive = (action: () => void): void => {
    if (runs()) action();
    else if (state !== 'ended') unread.push(action);
  };
  const after: Timer = (duration, action) => {
    let off = false;
    const due = (): void => {
      if (off) return;
      if (runs()) action();
      else if (state !== 'ended') dueTimers.push(due);
    };
    const cancel = scheduler.timer(scheduler.now + nanosOf(duration), due, kind);
    return () => {
      off = true;
      cancel();
    };
  };
  const sleep = sleepOn(after);

  return {
    pid,
    kind,
    get runs() {
      return runs();
    },
    get state() {
      return state;
    },
    get exitCode() {
      return exitCode;
    },
    receive,
    after,
    now: () => scheduler.now,
    wallMillis: () => wall.at(scheduler.now),
    clock: (origin) => ({ now: () => nanos(scheduler.now - origin), sleep }),
    stop() {
      if (state === 'running') state = 'stopped';
    },
    resume() {
      if (state !== 'stopped') return;
      state = 'running';
      goOn();
    },
    starve(denied) {
      isStarved = denied === 'denied';
      goOn();
    },
    end(code) {
      if (state === 'ended') return;
      state = 'ended';
      exitCode = code;
      dueTimers = [];
      unread = [];
      for (const listener of ends) listener();
    },
    onEnd: (listener) => void ends.push(listener),
  };
}
