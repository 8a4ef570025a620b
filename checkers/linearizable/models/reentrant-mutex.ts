// A lock that its owner may take again, up to a limit, and must release as often.

import { Kind, type LockEntries } from '../entries.ts';
import { callsBy, machineOf, observesByKind, type Model } from '../model.ts';
import { acquireLeadsNowhere } from './owners.ts';

interface State {
  /** Index of the owner; meaningless while `count` is 0. */
  readonly owner: number;
  readonly count: number;
}

const FREE: State = { owner: 0, count: 0 };

/** `limit`: how often one owner may hold it at once; at least 1. */
export function reentrantMutex(limit: number): Model<LockEntries> {
  return {
    name: 'reentrant-mutex',
    summary: 'one owner at a time, who may acquire again and must release as often',
    judges: [Kind.acquire, Kind.release, Kind.releaseUnchecked, Kind.renew, Kind.disowned, Kind.busy],
    skips: [Kind.renewUnchecked],
    pointless: acquireLeadsNowhere,
    machine(entries) {
      const { size, kind, owner, owners } = entries;
      return machineOf<State>(
        {
          initial: FREE,
          key: (state) => state.owner * (size + 1) + state.count,
          step(state, entry) {
            const self = owner[entry] ?? 0;
            const holds = state.count > 0 && state.owner === self;
            switch (kind[entry] ?? 0) {
              case Kind.acquire:
                return state.count === 0 || (holds && state.count < limit)
                  ? { owner: self, count: state.count + 1 }
                  : undefined;
              case Kind.renew:
                return holds ? state : undefined;
              case Kind.disowned:
                return holds ? undefined : state;
              case Kind.busy:
                return state.count > 0 && (!holds || state.count >= limit) ? state : undefined;
              default:
                if (!holds) return undefined;
                return state.count === 1 ? FREE : { owner: self, count: state.count - 1 };
            }
          },
          observes: observesByKind(entries, Kind.renew, Kind.disowned, Kind.busy),
          describe: ({ owner: holder, count }) =>
            count === 0 ? 'the lock is free' : `${owners[holder]} holds the lock, ${times(count)}`,
        },
        callsBy(entries, owner),
      );
    },
  };
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
