// The owned mutex without search: sessions, and whether they can follow each other (`exclusion.ts`). O(n log n).

import type { LockEntries } from '../entries.ts';
import type { Decision } from './decision.ts';
import { decideRefusedTries } from './refused-tries.ts';
import { exclusionOf } from './exclusion.ts';
import { sessionsOf } from './sessions.ts';

export function decideOwnedMutex(entries: LockEntries): Decision<LockEntries> {
  const sessions = sessionsOf(entries, { leases: false });
  if (sessions.verdict !== 'sessions') return sessions;
  const exclusion = exclusionOf(entries, sessions);
  return exclusion.refutation ?? decideRefusedTries(entries, sessions, exclusion);
}
