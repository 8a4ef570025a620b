// One key of a store that checks fencing tokens: it takes nothing that shows a token below the highest one it has seen,
// and refuses as stale only what does. Reads show their token where the store fences reads too. (The same token again
// is the same tenure.)

import { Kind, NONE, type StoreEntries } from '../entries.ts';
import { callsBy, machineOf, type Model } from '../model.ts';

interface State {
  /** Index into `values`. */
  readonly current: number;
  /** Index of the highest token seen, or `NONE`. */
  readonly mark: number;
}

export const fencedStore: Model<StoreEntries> = {
  name: 'fenced-store',
  summary: 'one value; no token below the highest one seen is accepted',
  judges: [Kind.read, Kind.write, Kind.stale],
  skips: [],
  machine(entries) {
    const { kind, value, values, token, tokens } = entries;
    return machineOf<State>(
      {
        initial: { current: 0, mark: NONE },
        key: ({ current, mark }) => current * (tokens.length + 1) + mark + 1,
        step(state, entry) {
          const shown = token[entry] ?? NONE;
          const operand = value[entry] ?? NONE;
          if (kind[entry] === Kind.stale) return shown < state.mark ? state : undefined;
          if (shown !== NONE && shown < state.mark) return undefined;
          const mark = Math.max(shown, state.mark);
          if (kind[entry] === Kind.write) return { current: operand, mark };
          return operand === NONE || operand === state.current ? { current: state.current, mark } : undefined;
        },
        observes: (entry) =>
          kind[entry] === Kind.stale || (kind[entry] === Kind.read && token[entry] === NONE),
        describe: ({ current, mark }) =>
          `the value is ${values[current]}` +
          (mark === NONE ? '' : ` and the highest token is ${tokens[mark]}`),
      },
      callsBy(entries, value, token),
    );
  },
};
