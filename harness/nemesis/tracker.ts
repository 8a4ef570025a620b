// Who holds what right now, as far as the coordinator has heard: resolves targets such as `holder` at the moment of
// injection. Fed with every journal event; asked by `nemesis.ts`. A guess for aiming faults, never evidence.

import type { HistoryEvent, Invoke, Nanos } from '../history/op.ts';

export class Tracker {
  /** Lock → the process granted it last that has not invoked its release since. */
  readonly #holders = new Map<string, string>();
  /** Grants of a lock whose last holder had not, so far, asked to release it before. */
  #takeovers: { readonly lock: string; readonly from: string; readonly at: Nanos }[] = [];
  /** Lock invocations without completion, by operation id; in order of invocation. */
  readonly #pending = new Map<number, Invoke>();

  observe(event: HistoryEvent): void {
    switch (event.type) {
      case 'invoke':
        if (event.lock === undefined) return;
        this.#pending.set(event.id, event);
        if (event.op === 'release') this.#letGo(event.process, event.time, event.lock);
        return;
      case 'ok':
      case 'fail':
      case 'info': {
        const invoke = this.#pending.get(event.id);
        this.#pending.delete(event.id);
        if (event.type === 'ok' && event.op === 'acquire' && invoke?.lock !== undefined) {
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
        this.#letGo(event.process, event.time);
        return;
      case 'lost':
        this.#letGo(event.process, event.time, event.lock);
        return;
      case 'fault':
      case 'server':
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

  holds(process: string): boolean {
    return this.holders().includes(process);
  }

  /** Processes with such an operation on its way; acquires of free locks come first. */
  inFlight(op: 'acquire' | 'release'): readonly string[] {
    const pending = [...this.#pending.values()].filter((invoke) => invoke.op === op);
    const free = pending.filter((invoke) => invoke.lock !== undefined && !this.#holders.has(invoke.lock));
    return [...new Set([...free, ...pending].map((invoke) => invoke.process))];
  }
}
