// A lock that one owner holds alone, or any number of owners share. Nobody enters twice and nobody changes from sharing
// to holding alone without releasing.

import { Kind, NONE, type LockEntries } from '../entries.ts';
import { callsBy, machineOf, observesByKind, type Model } from '../model.ts';
import { acquireLeadsNowhere } from './owners.ts';

interface State {
  /** Index of the owner who holds it alone, or `NONE`. */
  readonly alone: number;
  /** Indices of the owners who share it, ascending. */
  readonly sharing: readonly number[];
}

const FREE: State = { alone: NONE, sharing: [] };

export const readWriteLock: Model<LockEntries> = {
  name: 'read-write-lock',
  summary: 'one owner alone, or any number sharing',
  judges: [
    Kind.acquire,
    Kind.acquireShared,
    Kind.release,
    Kind.releaseUnchecked,
    Kind.renew,
    Kind.disowned,
    Kind.busy,
    Kind.busyShared,
  ],
  skips: [Kind.renewUnchecked],
  pointless: acquireLeadsNowhere,
  machine(entries) {
    const { kind, owner, owners } = entries;
    return machineOf<State>(
      {
        initial: FREE,
        key: ({ alone, sharing }) => `${alone}:${sharing.join(' ')}`,
        step(state, entry) {
          const self = owner[entry] ?? 0;
          const holds = state.alone === self || state.sharing.includes(self);
          const free = state.alone === NONE && state.sharing.length === 0;
          switch (kind[entry] ?? 0) {
            case Kind.acquire:
              return free ? { alone: self, sharing: [] } : undefined;
            case Kind.acquireShared:
              if (state.alone !== NONE || holds) return undefined;
              return { alone: NONE, sharing: [...state.sharing, self].toSorted((a, b) => a - b) };
            case Kind.renew:
              return holds ? state : undefined;
            case Kind.disowned:
              return holds ? undefined : state;
            case Kind.busy:
              return free ? undefined : state;
            case Kind.busyShared:
              return state.alone !== NONE || holds ? state : undefined;
            default:
              if (!holds) return undefined;
              return { alone: NONE, sharing: state.sharing.filter((other) => other !== self) };
          }
        },
        observes: observesByKind(entries, Kind.renew, Kind.disowned, Kind.busy, Kind.busyShared),
        describe: ({ alone, sharing }) => {
          if (alone !== NONE) return `${owners[alone]} holds the lock alone`;
          if (sharing.length === 0) return 'the lock is free';
          return `${sharing.map((holder) => owners[holder]).join(', ')} share the lock`;
        },
      },
      callsBy(entries, owner),
    );
  },
};
