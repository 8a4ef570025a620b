// What a simulated world must not know: the time, the chance and the timers of the machine it runs on. While it runs, to
// ask for them is an error, so that what two runs of a seed have in common is not luck. Only what Node itself and this
// program's own clocks keep from before is out of its reach; `tidy.test.ts` sees to those. Intervals are left alone: the
// journal is flushed by one, which nobody in the world can see.

function forbidden(what: string): never {
  throw new Error(`${what} in a simulated world, which has its own (clock.ts, rng.ts)`);
}

const machine = { date: Date, random: Math['random'], timeout: setTimeout };

const noDate = new Proxy(machine.date, {
  construct: (date, stamp: unknown[]) =>
    stamp.length === 0 ? forbidden('the time of day') : Reflect.construct(date, stamp),
  apply: () => forbidden('the time of day'),
  get: (date, name) =>
    name === 'now' ? () => forbidden('the time of day') : (Reflect.get(date, name) as unknown),
});
const noRandom = (): number => forbidden('chance');
const noTimeout = new Proxy(machine.timeout, { apply: () => forbidden('a timer of the machine') });

/** Until it is disposed, in this thread. */
export function withoutMachine(): Disposable {
  globalThis.Date = noDate;
  Math['random'] = noRandom;
  globalThis.setTimeout = noTimeout;
  return {
    [Symbol.dispose]() {
      globalThis.Date = machine.date;
      Math['random'] = machine.random;
      globalThis.setTimeout = machine.timeout;
    },
  };
}
