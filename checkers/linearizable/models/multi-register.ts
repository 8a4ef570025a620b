// Several registers that a transaction reads and writes at one instant. They cannot be judged one by one, so the whole
// history is one partition.

import { Kind, NONE, type StoreEntries } from '../entries.ts';
import { callsBy, machineOf, type Model } from '../model.ts';

/** The value of each register: an index into `values`. */
type State = readonly number[];

export const multiRegister: Model<StoreEntries> = {
  name: 'multi-register',
  summary: 'several values, read and written by transactions',
  judges: [Kind.transaction],
  skips: [],
  machine(entries) {
    const { value, values, transactions, registers } = entries;
    return machineOf<State>(
      {
        initial: registers.map(() => 0),
        key: (state) => state.join(' '),
        step(state, entry) {
          const after = [...state];
          for (const { write, register, value: operand } of transactions[value[entry] ?? 0] ?? []) {
            if (write) after[register] = operand;
            else if (operand !== NONE && operand !== after[register]) return undefined;
          }
          return after;
        },
        observes: (entry) => (transactions[value[entry] ?? 0] ?? []).every(({ write }) => !write),
        describe: (state) =>
          registers.map((name, register) => `${name} is ${values[state[register] ?? 0]}`).join(', '),
      },
      callsBy(entries, value),
    );
  },
};
