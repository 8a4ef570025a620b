// A number of permits; each acquire takes one, and only who has one can release one. (A counting semaphore that lets
// anybody release is the `mutex` of this family with one permit only; lock services count per session.)

import { Kind, type LockEntries } from '../entries.ts';
import { callsBy, machineOf, observesByKind, type Model } from '../model.ts';
import { acquireLeadsNowhere } from './owners.ts';

/** The owner of each permit taken, ascending. */
type State = readonly number[];

/** `permits`: at least 1. */
export function semaphore(permits: number): Model<LockEntries> {
  return {
    name: 'semaphore',
    summary: 'a number of permits; only an owner of one may release one',
    judges: [Kind.acquire, Kind.release, Kind.releaseUnchecked, Kind.renew, Kind.disowned, Kind.busy],
    skips: [Kind.renewUnchecked],
    pointless: acquireLeadsNowhere,
    machine(entries) {
      const { kind, owner, owners } = entries;
      return machineOf<State>(
        {
          initial: [],
          key: (state) => state.join(' '),
          step(state, entry) {
            const self = owner[entry] ?? 0;
            switch (kind[entry] ?? 0) {
              case Kind.acquire:
                return state.length < permits ? [...state, self].toSorted((a, b) => a - b) : undefined;
              case Kind.renew:
                return state.includes(self) ? state : undefined;
              case Kind.disowned:
                return state.includes(self) ? undefined : state;
              case Kind.busy:
                return state.length < permits ? undefined : state;
              default:
                return state.includes(self) ? state.toSpliced(state.indexOf(self), 1) : undefined;
            }
          },
          observes: observesByKind(entries, Kind.renew, Kind.disowned, Kind.busy),
          describe: (state) =>
            state.length === 0
              ? 'all permits are free'
              : `${state.length} of ${permits} permits are taken, by ${state.map((holder) => owners[holder]).join(', ')}`,
        },
        callsBy(entries, owner),
      );
    },
  };
}
