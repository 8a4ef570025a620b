// What a model is to the search: a machine with small whole numbers as states, made for the entries of one partition.
// Models say what one operation does at one instant and nothing about time, order or searching; the files of `models/`
// hold them. `machineOf` makes a machine of a model whose states are values: equal states get one number, and each
// transition is computed once.

import { interner, Kind, kindsIn, NONE, type Entries } from './entries.ts';

/** What `step` returns when the operation cannot take effect in that state. */
export const ILLEGAL = -1;

/** Stands for any state that will be overwritten before anything can observe it. No machine has it. */
export const DOOMED = -2;

export interface Machine {
  readonly initial: number;
  /**
   * The state after `entry` took effect in `state`, or `ILLEGAL`. `now` is the latest stamp at which it can take
   * effect here; for models in which something ends by itself, and then legal now means legal later.
   */
  readonly step: (state: number, entry: number, now: number) => number;
  /** Entries with the same number may be exchanged: legal in the same states, to the same effect. */
  readonly call: Int32Array;
  /** The entry changes no state in which it is legal. */
  readonly observes: (entry: number) => boolean;
  /** The entry is legal in every state. Absent: none is. */
  readonly total?: (entry: number) => boolean;
  /** It is total and leaves a state that does not depend on the one before. Absent: none does. */
  readonly blind?: (entry: number) => boolean;
  /**
   * From `state` no entries but blind ones lead to a state in which `entry`, which observes, is legal. Only for
   * machines whose every entry observes or is total. Absent: nobody can tell.
   */
  readonly outOfReach?: (state: number, entry: number) => boolean;
  /** All states there can be, if they are known and few. */
  readonly states?: () => readonly number[];
  /** In words, a whole clause. */
  readonly describe: (state: number) => string;
}

/** For `observes` of a model in which entries of these kinds never change anything, and all others may. */
export function observesByKind({ kind }: Entries, ...observers: readonly Kind[]): (entry: number) => boolean {
  const observing = kindsIn(observers);
  return (entry) => observing[kind[entry] ?? 0] === 1;
}

export interface Model<E extends Entries> {
  readonly name: string;
  readonly summary: string;
  /** The kinds of entry it judges. */
  readonly judges: readonly Kind[];
  /** The kinds that say nothing in this model. Any other kind is a mistake of whoever chose the model. */
  readonly skips: readonly Kind[];
  readonly machine: (entries: E) => Machine;
  /** An entry of unknown outcome for which this holds can be left out without changing any verdict; one that only observes always can. */
  readonly pointless?: (entries: E) => (entry: number) => boolean;
}

/** Above this many possible calls a map is smaller than a table. */
const TABLE_CALLS_MAX = 1 << 24;

/** Numbers the calls of `entries` by kind and the columns that matter to a model, which hold whole numbers from -1. O(n). */
export function callsBy({ size, kind }: Entries, ...columns: readonly Int32Array[]): Int32Array {
  const keys = new Float64Array(kind.subarray(0, size));
  let span = Object.keys(Kind).length;
  for (const column of columns) span *= addColumn(keys, column);
  const calls = new Int32Array(size);
  if (span > TABLE_CALLS_MAX) {
    const intern = interner<number>();
    for (let entry = 0; entry < size; entry++) calls[entry] = intern(keys[entry] ?? 0);
    return calls;
  }
  const numbers = new Int32Array(span);
  let count = 0;
  for (let entry = 0; entry < size; entry++) {
    const key = keys[entry] ?? 0;
    calls[entry] = (numbers[key] ||= ++count) - 1;
  }
  return calls;
}

/** Makes `column` the last digit of `keys`, and returns of how many it is one. */
function addColumn(keys: Float64Array, column: Int32Array): number {
  let max = NONE;
  for (let entry = 0; entry < keys.length; entry++) max = Math.max(max, column[entry] ?? 0);
  const radix = max + 2;
  for (let entry = 0; entry < keys.length; entry++)
    keys[entry] = (keys[entry] ?? 0) * radix + (column[entry] ?? 0) + 1;
  return radix;
}

/** A model over immutable values. */
export interface Specification<State> {
  readonly initial: State;
  /** Different for different states. */
  readonly key: (state: State) => string | number;
  /** undefined: it cannot take effect in this state. */
  readonly step: (state: State, entry: number) => State | undefined;
  readonly observes: (entry: number) => boolean;
  readonly total?: (entry: number) => boolean;
  readonly blind?: (entry: number) => boolean;
  readonly outOfReach?: (state: State, entry: number) => boolean;
  readonly describe: (state: State) => string;
}

/** The machine of `specification`, which may look at nothing of an entry but what `call` tells apart. */
export function machineOf<State>(specification: Specification<State>, call: Int32Array): Machine {
  const { initial, key, step, describe, outOfReach, ...rest } = specification;
  const numbers = new Map<string | number, number>([[key(initial), 0]]);
  const states: State[] = [initial];
  const transitions = new Map<number, number>();
  const calls = call.length + 1;
  const numberOf = (state: State): number => {
    const stateKey = key(state);
    const known = numbers.get(stateKey);
    if (known !== undefined) return known;
    numbers.set(stateKey, states.length);
    states.push(state);
    return states.length - 1;
  };
  const stateOf = (number: number): State => states[number] ?? initial;
  return {
    ...rest,
    initial: 0,
    call,
    step(state, entry) {
      const transition = state * calls + (call[entry] ?? 0);
      const known = transitions.get(transition);
      if (known !== undefined) return known;
      const after = step(stateOf(state), entry);
      const next = after === undefined ? ILLEGAL : numberOf(after);
      transitions.set(transition, next);
      return next;
    },
    ...(outOfReach !== undefined && {
      outOfReach: (state: number, entry: number) => outOfReach(stateOf(state), entry),
    }),
    describe: (state) => describe(stateOf(state)),
  };
}
