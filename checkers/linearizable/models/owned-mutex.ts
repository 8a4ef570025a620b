// A lock that knows its owner: only the owner can release it, and not twice. Nothing ends a hold but its release.

import { Kind, type LockEntries } from '../entries.ts';
import { callsBy, ILLEGAL, observesByKind, type Model } from '../model.ts';
import { acquireLeadsNowhere } from './owners.ts';

const FREE = 0;

export const ownedMutex: Model<LockEntries> = {
  name: 'owned-mutex',
  summary: 'one owner at a time; only the owner may release',
  judges: [Kind.acquire, Kind.release, Kind.releaseUnchecked, Kind.renew, Kind.disowned, Kind.busy],
  skips: [Kind.renewUnchecked],
  pointless: acquireLeadsNowhere,
  machine(entries) {
    const { kind, owner, owners } = entries;
    return {
      initial: FREE,
      call: callsBy(entries, owner),
      step(state, entry) {
        const self = (owner[entry] ?? 0) + 1;
        switch (kind[entry] ?? 0) {
          case Kind.acquire:
            return state === FREE ? self : ILLEGAL;
          case Kind.renew:
            return state === self ? state : ILLEGAL;
          case Kind.disowned:
            return state === self ? ILLEGAL : state;
          case Kind.busy:
            return state === FREE ? ILLEGAL : state;
          default:
            return state === self ? FREE : ILLEGAL;
        }
      },
      observes: observesByKind(entries, Kind.renew, Kind.disowned, Kind.busy),
      states: () => [FREE, ...owners.map((_, index) => index + 1)],
      describe: (state) => (state === FREE ? 'the lock is free' : `${owners[state - 1]} holds the lock`),
    };
  },
};
