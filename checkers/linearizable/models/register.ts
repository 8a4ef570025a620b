// One value that is read and written, and, as `cas-register`, exchanged if it is what the caller expects. A read that
// did not say what it saw is legal always.

import { Kind, NONE, type StoreEntries } from '../entries.ts';
import { callsBy, ILLEGAL, observesByKind, type Machine, type Model } from '../model.ts';

export const register: Model<StoreEntries> = {
  name: 'register',
  summary: 'one value: read, write',
  judges: [Kind.read, Kind.write],
  skips: [],
  machine: registerMachine,
};

export const casRegister: Model<StoreEntries> = {
  name: 'cas-register',
  summary: 'one value: read, write, compare-and-set',
  judges: [Kind.read, Kind.write, Kind.cas, Kind.casFailed],
  skips: [],
  machine: registerMachine,
};

function registerMachine(entries: StoreEntries): Machine {
  const { size, kind, value, expected, values } = entries;
  const exchanges = kind.subarray(0, size).includes(Kind.cas);
  return {
    initial: 0,
    call: callsBy(entries, value, expected),
    step(state, entry) {
      const written = value[entry] ?? NONE;
      switch (kind[entry] ?? 0) {
        case Kind.read:
          return written === state || written === NONE ? state : ILLEGAL;
        case Kind.write:
          return written;
        case Kind.cas:
          return expected[entry] === state ? written : ILLEGAL;
        default:
          return expected[entry] === state ? ILLEGAL : state;
      }
    },
    total: (entry) => kind[entry] === Kind.write,
    blind: (entry) => kind[entry] === Kind.write,
    // Without exchanges, only writes change the value.
    ...(!exchanges && {
      outOfReach: (state: number, entry: number) => {
        const seen = value[entry] ?? NONE;
        return kind[entry] === Kind.read ? seen !== NONE && seen !== state : expected[entry] === state;
      },
    }),
    observes: observesByKind(entries, Kind.read, Kind.casFailed),
    states() {
      const written = new Set([0]);
      for (let entry = 0; entry < size; entry++)
        if (kind[entry] === Kind.write || kind[entry] === Kind.cas) written.add(value[entry] ?? 0);
      return [...written];
    },
    describe: (state) => `the value is ${values[state]}`,
  };
}
