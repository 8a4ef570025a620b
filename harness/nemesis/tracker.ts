// Who holds what right now, as far as the coordinator has heard: resolves targets such as `holder` at the moment of
// injection. Fed with every journal event; asked by `nemesis.ts`. A guess for aiming faults, never evidence.

import type { HistoryEvent, Invoke, Nanos } from '../history/op.ts';

export class Tracker {
  /** Lock → the process granted it last that has not invoked its release since. */
  readonly #holders = new Map<string, string>();
  /** Grants of a lock whose last holder had not, so far, asked to release it before. */
  #takeovers: { readonly lock: string; readonly from: string; readonly at: Nanos }[] = [];
  /** Process → the lock that it asked for last and was not granted since. */
  readonly #wanted = new Map<string, string>();
  /** Lock invocations without completion, by operation id; in order of invocation. */
  readonly #pending = new Map<number, Invoke>();

  observe(event: HistoryEvent): void {
    switch (event.type) {
      case 'invoke':
        if (event.lock === undefined) return;
        this.#pending.set(event.id, event);
        if (event.op === 'acquire') this.#wanted.set(event.process, event.lock);
        if (event.op === 'release') this.#letGo(event.process, event.time, event.lock);
        return;
      case 'ok':
      case 'fail':
      case 'info': {
        const invoke = this.#pending.get(event.id);
        this.#pending.delete(event.id);
        if (event.type === 'ok' && event.op === 'acquire' && invoke?.lock !== undefined) {
          this.#wanted.delete(event.process);
          const holder = this.#holders.get(invoke.lock);
          if (holder !== undefined && holder !== event.process)
            this.#takeovers.push({ lock: invoke.lock, from: holder, at: event.time });
          this.#holders.delete(invoke.lock);
          this.#holders.set(invoke.lock, event.process);
        }
        return;
      }
      case 'down':
        for (const [id, invoke] of this.#pending)
          if (invoke.process === event.process) this.#pending.delete(id);
        this.#wanted.delete(event.process);
        this.#letGo(event.process, event.time);
        return;
      case 'lost':
        this.#letGo(event.process, event.time, event.lock);
        return;
      case 'fault':
      case 'server':
      case 'harness':
        return;
    }
  }

  /** How many grants were of a lock that another one held. Goes down when a release arrives that was sent before. */
  get takeovers(): number {
    return this.#takeovers.length;
  }

  /** `process` gave up the lock, or all its locks, at a time that may lie before events that arrived earlier. */
  #letGo(process: string, time: Nanos, only?: string): void {
    const concerns = (lock: string): boolean => only === undefined || only === lock;
    for (const [lock, holder] of this.#holders)
      if (holder === process && concerns(lock)) this.#holders.delete(lock);
    this.#takeovers = this.#takeovers.filter(
      ({ lock, from, at }) => !(from === process && concerns(lock) && time <= at),
    );
  }

  /** The processes that hold a lock, the last granted one last. */
  holders(): readonly string[] {
    return [...new Set(this.#holders.values())];
  }

  /** The lock that an event is about; ask before it is observed, for a completion does not name it. */
  lockOf(event: HistoryEvent): string | undefined {
    if ('lock' in event) return event.lock;
    return 'id' in event && typeof event.id === 'number' ? this.#pending.get(event.id)?.lock : undefined;
  }

  /** Processes that want a lock that they have not: those that want `lock` first, then those of held locks. */
  waiters(lock: string | undefined): readonly string[] {
    const wanting = [...this.#wanted];
    const rank = ([, wanted]: readonly [string, string]): number =>
      wanted === lock ? 0 : this.#holders.has(wanted) ? 1 : 2;
    return wanting.toSorted((a, b) => rank(a) - rank(b)).map(([process]) => process);
  }

  holds(process: string): boolean {
    return this.holders().includes(process);
  }

  /** Whether this is an acquire whose completion has been heard of. */
  isAnswered(event: HistoryEvent): boolean {
    return event.type === 'invoke' && event.op === 'acquire' && !this.#pending.has(event.id);
  }

  /** Processes with such an operation on its way; acquires of free locks come first. */
  inFlight(op: 'acquire' | 'release'): readonly string[] {
    const pending = [...this.#pending.values()].filter((invoke) => invoke.op === op);
    const free = pending.filter((invoke) => invoke.lock !== undefined && !this.#holders.has(invoke.lock));
    return [...new Set([...free, ...pending].map((invoke) => invoke.process))];
  }
}
