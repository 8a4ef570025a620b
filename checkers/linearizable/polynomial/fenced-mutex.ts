// The fenced mutex without search. Tokens give the order of the sessions that have one: placed in that order, each as
// early as it can be, they must all fit (an exchange argument: an earlier end never hurts a later session). A session
// whose token nobody knows has no place in that order and only needs room. O(n log n).

import { NONE, type LockEntries } from '../entries.ts';
import type { Decision } from './decision.ts';
import { coresBegunBefore, exclusionOf, type Exclusion } from './exclusion.ts';
import { decideRefusedTries } from './refused-tries.ts';
import { sessionsOf, type Sessions } from './sessions.ts';
import { sortRows } from '../../../harness/history/sort-rows.ts';

export function decideFencedMutex(entries: LockEntries): Decision<LockEntries> {
  const sessions = sessionsOf(entries, { leases: false });
  if (sessions.verdict !== 'sessions') return sessions;
  const exclusion = exclusionOf(entries, sessions);
  return (
    exclusion.refutation ??
    tokenOrder(sessions, exclusion) ??
    decideRefusedTries(entries, sessions, exclusion)
  );
}

function tokenOrder(sessions: Sessions, { cores }: Exclusion): Decision | undefined {
  const { count, acquire, token, latestBegin, beginProof, earliestEnd, latestEnd } = sessions;
  const withToken: number[] = [];
  for (let row = 0; row < count; row++) if (token[row] !== NONE) withToken.push(row);

  let end = -Infinity;
  let before = NONE;
  for (const row of sortRows(withToken, token)) {
    const hasCore = (latestBegin[row] ?? 0) < (earliestEnd[row] ?? 0);
    const latest = hasCore ? (latestBegin[row] ?? 0) : Math.min(latestBegin[row] ?? 0, latestEnd[row] ?? 0);
    let place = end;
    if (!hasCore) {
      place = Math.max(end, earliestEnd[row] ?? 0);
      const around = cores[coresBegunBefore(cores, latestBegin, place) - 1];
      if (around !== undefined) place = Math.max(place, earliestEnd[around] ?? 0);
    }
    const sameToken = before !== NONE && token[before] === token[row];
    if (place > latest || sameToken) {
      const conflict = [before, row]
        .filter((other) => other !== NONE)
        .sort((a, b) => (latestBegin[a] ?? 0) - (latestBegin[b] ?? 0))
        .map((other) => acquire[other] ?? 0);
      const refuted = Math.max(...conflict) === acquire[row] ? row : before;
      return { verdict: 'invalid', refuted: beginProof[refuted] ?? 0, conflict, reason: 'token-order' };
    }
    end = hasCore ? (earliestEnd[row] ?? 0) : place;
    before = row;
  }
  return undefined;
}
