// A lock that its service may take back: not before the last successful acquire or renewal, counted from the last
// invocation of one, has been in force for its TTL less the clocks' tolerance (`lease`); after that whenever it likes, or
// never. (Counted from the last invocation because a renewal cannot act before what acted before it was invoked: one
// that is overtaken by the next does not make the lease shorter.) What the service answers the owner, "not yours" or
// "released", says which it was.

import { interner, Kind, type LockEntries } from '../entries.ts';
import { callsBy, ILLEGAL, observesByKind, type Model } from '../model.ts';
import { acquireLeadsNowhere } from './owners.ts';

/** Any other state is 1 + the last invoked acquire or renewal of the tenure × the number of leases + the lease. */
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
  pointless(entries) {
    const leadsNowhere = acquireLeadsNowhere(entries);
    const { things: leases } = leasesOf(entries);
    // A renewal only makes the lease longer, unless its own is a shorter one.
    const renewalsToo = leases.length <= 1;
    return (entry) => leadsNowhere(entry) || (renewalsToo && isRenewal(entries, entry));
  },
  machine(entries) {
    const { kind, owner, owners, invoked } = entries;
    const { numbers, things: leases } = leasesOf(entries);
    const sinceOf = (state: number): number => Math.floor((state - 1) / leases.length);
    const expiryOf = (state: number): number =>
      (invoked[sinceOf(state)] ?? 0) + (leases[(state - 1) % leases.length] ?? 0);
    const stateOf = (since: number, entry: number): number =>
      1 + since * leases.length + (numbers[entry] ?? 0);
    return {
      initial: FREE,
      call: callsBy(entries, owner, ownLeases(entries)),
      step(state, entry, now) {
        const holds = state !== FREE && owner[sinceOf(state)] === owner[entry];
        const mayBeOver = state !== FREE && expiryOf(state) <= now;
        switch (kind[entry] ?? 0) {
          case Kind.acquire:
            return state === FREE || mayBeOver ? stateOf(entry, entry) : ILLEGAL;
          case Kind.renew:
            return holds ? stateOf(Math.max(sinceOf(state), entry), entry) : ILLEGAL;
          case Kind.renewUnchecked:
            // Past its time the lease may have gone before: the state that allows both stays as it is.
            return holds && !mayBeOver ? stateOf(Math.max(sinceOf(state), entry), entry) : state;
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
        state === FREE
          ? 'the lock is free'
          : `${owners[owner[sinceOf(state)] ?? 0]} has the lease of the lock`,
    };
  },
};

function isRenewal({ kind }: LockEntries, entry: number): boolean {
  return kind[entry] === Kind.renew || kind[entry] === Kind.renewUnchecked;
}

/** The different leases, and by acquire or renewal the number of its own. */
function leasesOf(entries: LockEntries): {
  readonly numbers: Int32Array;
  readonly things: readonly number[];
} {
  const { size, kind, lease } = entries;
  const intern = interner<number>();
  const numbers = new Int32Array(size);
  for (let entry = 0; entry < size; entry++)
    if (kind[entry] === Kind.acquire || isRenewal(entries, entry)) numbers[entry] = intern(lease[entry] ?? 0);
  return { numbers, things: intern.things };
}

/** Makes each acquire and renewal a call of its own: it starts a lease at its own time. */
function ownLeases(entries: LockEntries): Int32Array {
  return Int32Array.from({ length: entries.size }, (_, entry) =>
    entries.kind[entry] === Kind.acquire || isRenewal(entries, entry) ? entry : 0,
  );
}
