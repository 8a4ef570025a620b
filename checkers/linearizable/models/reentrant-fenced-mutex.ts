// A lock that its owner may take again and that hands out fencing tokens: a new tenure has a greater token than any
// observed before, taking it again gives the same token. A token that nobody saw binds nothing; if the first grant of
// a tenure did not tell its token, the first one that does sets it.

import { Kind, NONE, type LockEntries } from '../entries.ts';
import { callsBy, machineOf, observesByKind, type Model } from '../model.ts';
import { acquireLeadsNowhere } from './owners.ts';

interface State {
  /** Index of the owner; meaningless while `count` is 0. */
  readonly owner: number;
  readonly count: number;
  /** Index of the highest token observed, or `NONE`. */
  readonly mark: number;
  /** `mark` is the token of the present tenure. */
  readonly known: boolean;
}

/** `limit`: how often one owner may hold it at once; at least 1. */
export function reentrantFencedMutex(limit: number): Model<LockEntries> {
  return {
    name: 'reentrant-fenced-mutex',
    summary:
      'one owner at a time, who may acquire again with the same token; each new tenure has a greater one',
    judges: [Kind.acquire, Kind.release, Kind.releaseUnchecked, Kind.renew, Kind.disowned, Kind.busy],
    skips: [Kind.renewUnchecked],
    pointless: acquireLeadsNowhere,
    machine(entries) {
      const { kind, owner, owners, token, tokens } = entries;
      const enter = (state: State, self: number, granted: number): State | undefined => {
        const count = state.count + 1;
        const known = state.count > 0 && state.known;
        if (granted === NONE) return { owner: self, count, mark: state.mark, known };
        if (known ? granted !== state.mark : granted <= state.mark) return undefined;
        return { owner: self, count, mark: granted, known: true };
      };
      return machineOf<State>(
        {
          initial: { owner: 0, count: 0, mark: NONE, known: false },
          key: (state) => `${state.owner} ${state.count} ${state.mark} ${state.known}`,
          step(state, entry) {
            const self = owner[entry] ?? 0;
            const holds = state.count > 0 && state.owner === self;
            switch (kind[entry] ?? 0) {
              case Kind.acquire:
                return state.count === 0 || (holds && state.count < limit)
                  ? enter(state, self, token[entry] ?? NONE)
                  : undefined;
              case Kind.renew:
                return holds ? state : undefined;
              case Kind.disowned:
                return holds ? undefined : state;
              case Kind.busy:
                return state.count > 0 && (!holds || state.count >= limit) ? state : undefined;
              default:
                if (!holds) return undefined;
                return state.count === 1
                  ? { owner: 0, count: 0, mark: state.mark, known: false }
                  : { ...state, count: state.count - 1 };
            }
          },
          observes: observesByKind(entries, Kind.renew, Kind.disowned, Kind.busy),
          describe: ({ owner: holder, count, mark }) =>
            (count === 0 ? 'the lock is free' : `${owners[holder]} holds the lock, entered ${count} deep`) +
            (mark === NONE ? '' : `, and the highest token is ${tokens[mark]}`),
        },
        callsBy(entries, owner, token),
      );
    },
  };
}
