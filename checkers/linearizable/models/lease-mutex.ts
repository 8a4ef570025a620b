// A lock that its service may take back: not before the last successful acquire or renewal, counted from its invocation,
// has been in force for its TTL less the clocks' tolerance (`guaranteed`); after that whenever it likes, or never. An
// answer of the service to the owner, "not yours" or "released", says which it was.

import { interner, Kind, type LockEntries } from '../entries.ts';
import { callsBy, ILLEGAL, observesByKind, type Model } from '../model.ts';
import { acquireLeadsNowhere } from './owners.ts';

/** Any other state is the last acquire or renewal of the tenure: its entry + 1. */
const FREE = 0;

export const leaseMutex: Model<LockEntries> = {
  name: 'lease-mutex',
  summary: 'one owner at a time, until released or until the lease has run out',
  judges: [
    Kind.acquire,
    Kind.release,
    Kind.releaseUnchecked,
    Kind.renew,
    Kind.renewUnchecked,
    Kind.disowned,
    Kind.busy,
  ],
  skips: [],
  pointless: acquireLeadsNowhere,
  machine(entries) {
    const { kind, owner, owners, guaranteed } = entries;
    return {
      initial: FREE,
      call: callsBy(entries, kind, owner, leases(entries)),
      step(state, entry, now) {
        const holds = state !== FREE && owner[state - 1] === owner[entry];
        const mayBeOver = state !== FREE && (guaranteed[state - 1] ?? 0) <= now;
        switch (kind[entry] ?? 0) {
          case Kind.acquire:
            return state === FREE || mayBeOver ? entry + 1 : ILLEGAL;
          case Kind.renew:
            return holds ? entry + 1 : ILLEGAL;
          case Kind.renewUnchecked:
            // Past its time the lease may have gone before: the state that allows both stays as it is.
            return holds && !mayBeOver ? entry + 1 : state;
          case Kind.release:
            return holds ? FREE : ILLEGAL;
          case Kind.releaseUnchecked:
            return holds ? FREE : state;
          case Kind.disowned:
            if (!holds) return state;
            return mayBeOver ? FREE : ILLEGAL;
          default:
            return state === FREE ? ILLEGAL : state;
        }
      },
      observes: observesByKind(entries, Kind.busy),
      describe: (state) =>
        state === FREE ? 'the lock is free' : `${owners[owner[state - 1] ?? 0]} has the lease of the lock`,
    };
  },
};

/** Tells grants and renewals with different leases apart, and nothing else. */
function leases({ size, kind, guaranteed }: LockEntries): Int32Array {
  const lease = new Int32Array(size);
  const intern = interner<number>(-Infinity);
  for (let entry = 0; entry < size; entry++) {
    const leased =
      kind[entry] === Kind.acquire || kind[entry] === Kind.renew || kind[entry] === Kind.renewUnchecked;
    if (leased) lease[entry] = intern(guaranteed[entry] ?? 0);
  }
  return lease;
}
