// What the models of locks with owners have in common.

import { Kind, NEVER, type LockEntries } from '../entries.ts';

/**
 * An acquire of unknown outcome leads nowhere if its owner succeeds at nothing afterwards: had it taken effect, the
 * lock would only be kept from others. Unless a refused try is evidence that somebody held it: then all may matter.
 */
export function acquireLeadsNowhere(entries: LockEntries): (entry: number) => boolean {
  const { size, invoked, returned, kind, owner, owners } = entries;
  const lastSuccess = new Float64Array(owners.length).fill(-Infinity);
  for (let entry = 0; entry < size; entry++) {
    const stamp = returned[entry] ?? 0;
    const who = owner[entry] ?? 0;
    switch (kind[entry] ?? 0) {
      case Kind.busy:
      case Kind.busyShared:
        return () => false;
      case Kind.release:
      case Kind.releaseUnchecked:
      case Kind.renew:
        if (stamp !== NEVER && stamp > (lastSuccess[who] ?? 0)) lastSuccess[who] = stamp;
        break;
      default:
    }
  }
  return (entry) => {
    const acquires = kind[entry] === Kind.acquire || kind[entry] === Kind.acquireShared;
    return acquires && (lastSuccess[owner[entry] ?? 0] ?? 0) < (invoked[entry] ?? 0);
  };
}
