// The lease mutex without search. A session may end at its release or when its last guarantee is over, whichever is
// first, but not before an answer that proves it still went on; else it is the owned mutex. The guarantee counts from an
// invocation and not from the unknown instant of the grant: that is what keeps sessions independent, and O(n log n).

import type { LockEntries } from '../entries.ts';
import type { Decision } from './decision.ts';
import { exclusionOf } from './exclusion.ts';
import { decideRefusedTries } from './refused-tries.ts';
import { sessionsOf } from './sessions.ts';

export function decideLeaseMutex(entries: LockEntries): Decision<LockEntries> {
  const sessions = sessionsOf(entries, { leases: true });
  if (sessions.verdict !== 'sessions') return sessions;
  const exclusion = exclusionOf(entries, sessions);
  return exclusion.refutation ?? decideRefusedTries(entries, sessions, exclusion);
}
