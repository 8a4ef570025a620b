// An owned lock that hands out fencing tokens: the token of a new tenure is greater than any observed before it. A grant
// whose token nobody saw never moves that mark: whatever its token was, the next one has to be greater than the
// observed ones only. (A recipe that takes the lock first and the token second can hold it without having a token.)

import { Kind, NONE, type LockEntries } from '../entries.ts';
import { callsBy, machineOf, observesByKind, type Model } from '../model.ts';
import { acquireLeadsNowhere } from './owners.ts';

interface State {
  /** Index of the owner, or `NONE`. */
  readonly holder: number;
  /** Index of the highest token observed, or `NONE`. */
  readonly mark: number;
}

export const fencedMutex: Model<LockEntries> = {
  name: 'fenced-mutex',
  summary: 'one owner at a time; each new tenure has a greater token',
  judges: [Kind.acquire, Kind.release, Kind.releaseUnchecked, Kind.renew, Kind.disowned, Kind.busy],
  skips: [Kind.renewUnchecked],
  pointless: acquireLeadsNowhere,
  machine(entries) {
    const { kind, owner, owners, token, tokens } = entries;
    return machineOf<State>(
      {
        initial: { holder: NONE, mark: NONE },
        key: ({ holder, mark }) => (holder + 1) * (tokens.length + 1) + mark + 1,
        step(state, entry) {
          const self = owner[entry] ?? 0;
          const granted = token[entry] ?? NONE;
          switch (kind[entry] ?? 0) {
            case Kind.acquire:
              if (state.holder !== NONE || (granted !== NONE && granted <= state.mark)) return undefined;
              return { holder: self, mark: Math.max(granted, state.mark) };
            case Kind.renew:
              return state.holder === self ? state : undefined;
            case Kind.disowned:
              return state.holder === self ? undefined : state;
            case Kind.busy:
              return state.holder === NONE ? undefined : state;
            default:
              return state.holder === self ? { holder: NONE, mark: state.mark } : undefined;
          }
        },
        observes: observesByKind(entries, Kind.renew, Kind.disowned, Kind.busy),
        describe: ({ holder, mark }) =>
          (holder === NONE ? 'the lock is free' : `${owners[holder]} holds the lock`) +
          (mark === NONE ? '' : ` and the highest token is ${tokens[mark]}`),
      },
      callsBy(entries, owner, token),
    );
  },
};
