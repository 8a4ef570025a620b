// A lock without owners: held or free. Whoever holds it, anyone's release frees it, so a release that was refused, or
// a renewal, says nothing here. It misses what an owner would tell; see `owned-mutex.ts`.

import { Kind, type LockEntries } from '../entries.ts';
import { callsBy, ILLEGAL, observesByKind, type Model } from '../model.ts';

const FREE = 0;
const HELD = 1;

export const mutex: Model<LockEntries> = {
  name: 'mutex',
  summary: 'held or free; anyone may release',
  judges: [Kind.acquire, Kind.release, Kind.releaseUnchecked, Kind.busy],
  skips: [Kind.renew, Kind.renewUnchecked, Kind.disowned],
  machine(entries) {
    const { kind } = entries;
    return {
      initial: FREE,
      call: callsBy(entries),
      step(state, entry) {
        switch (kind[entry] ?? 0) {
          case Kind.acquire:
            return state === FREE ? HELD : ILLEGAL;
          case Kind.busy:
            return state === HELD ? HELD : ILLEGAL;
          default:
            return state === HELD ? FREE : ILLEGAL;
        }
      },
      observes: observesByKind(entries, Kind.busy),
      states: () => [FREE, HELD],
      describe: (state) => (state === FREE ? 'the lock is free' : 'the lock is held'),
    };
  },
};
