// Refused tries as evidence: at some instant of each, somebody held the lock. Sessions that can follow each other
// (`exclusion.ts`) may be stretched as far as their ends allow, so between two cores the lock is surely free only from
// the return of one session's release to the invocation of the next acquire. A try wholly inside such a gap needs an
// acquire of unknown outcome that held the lock there. One that was invoked before the first such try returned, and can
// be over when the next session must begin, serves the whole gap; it can serve one gap only, and whichever can serve a
// gap can serve every later one, so counting decides (Hall's theorem, for sets that only grow). O(n log n).
// Not exact, and so `undecided`, where sessions without a core, answers to owners, releases that did not check the owner, or
// tokens would restrict who can serve.

import { Kind, NEVER, NONE, refusesTries, type LockEntries } from '../entries.ts';
import { UNDECIDED, VALID, type Decision } from './decision.ts';
import { coresBegunBefore, type Exclusion } from './exclusion.ts';
import type { PossibleSession, Sessions } from './sessions.ts';

/** A time at which the lock is surely free, though a try says that it was not. */
interface Gap {
  /** The try there that returned first. */
  readonly entry: number;
  readonly firstReturn: number;
  /** When the next session must have begun; `NEVER` after the last one. */
  readonly closes: number;
}

/** Of entries of which nothing else is refuted. */
export function decideRefusedTries(entries: LockEntries, asked: Sessions, exclusion: Exclusion): Decision {
  if (!refusesTries(entries)) return VALID;
  const latestEnd = endsByAnswers(entries, asked);
  if (latestEnd === undefined) return UNDECIDED;
  const sessions = { ...asked, latestEnd };
  for (const point of exclusion.points) if (!isHarmless(point, sessions, exclusion)) return UNDECIDED;
  const gaps = gapsOf(entries, sessions, exclusion);
  if (gaps.length === 0) return VALID;
  const restricted =
    exclusion.points.length > 0 ||
    sessions.disowned.some(({ row }) => row === NONE) ||
    sessions.possible.some((session) => session.token !== NONE || session.latestEnd !== NEVER);
  if (restricted) return UNDECIDED;

  /** By gap: how many possible sessions can serve it and none before. */
  const servers = new Int32Array(gaps.length);
  for (const session of sessions.possible) {
    const first = firstServed(gaps, session);
    if (first < gaps.length) servers[first] = (servers[first] ?? 0) + 1;
  }
  let spare = 0;
  for (const [index, { entry }] of gaps.entries()) {
    spare += (servers[index] ?? 0) - 1;
    if (spare < 0)
      return { verdict: 'invalid', refuted: entry, conflict: [entry], reason: 'busy-while-free' };
  }
  return VALID;
}

/** `latestEnd`, knowing that an owner who was told "not yours" after he had begun had ended by then. */
function endsByAnswers({ invoked, returned }: LockEntries, sessions: Sessions): Float64Array | undefined {
  const latestEnd = sessions.latestEnd.slice();
  for (const { entry, row } of sessions.disowned) {
    if (row === NONE || (returned[entry] ?? 0) < (sessions.earliestBegin[row] ?? 0)) continue;
    if ((invoked[entry] ?? 0) <= (sessions.latestBegin[row] ?? 0)) return undefined;
    latestEnd[row] = Math.min(latestEnd[row] ?? 0, returned[entry] ?? 0);
  }
  return latestEnd;
}

/** A session without a core has a place where it takes nothing from the time at which others can hold the lock. */
function isHarmless(point: number, sessions: Sessions, { cores }: Exclusion): boolean {
  const { token, earliestBegin, latestBegin, earliestEnd, latestEnd } = sessions;
  if (token[point] !== NONE) return false;
  const low = earliestEnd[point] ?? 0;
  const high = Math.min(latestBegin[point] ?? 0, latestEnd[point] ?? 0);
  for (let next = coresBegunBefore(cores, latestBegin, low); next <= cores.length; next++) {
    const before = cores[next - 1];
    const after = cores[next];
    const freeFrom = before === undefined ? -Infinity : (latestEnd[before] ?? 0);
    const takenFrom = after === undefined ? NEVER : (earliestBegin[after] ?? 0);
    // Either the lock is free from `freeFrom` to `takenFrom`, or one session can begin as the other ends.
    const from =
      freeFrom <= takenFrom
        ? freeFrom
        : Math.max(before === undefined ? -Infinity : (earliestEnd[before] ?? 0), takenFrom);
    const to =
      freeFrom <= takenFrom
        ? takenFrom
        : Math.min(freeFrom, after === undefined ? NEVER : (latestBegin[after] ?? 0));
    if (from > high) return false;
    if (from !== NEVER && Math.max(from, low) <= Math.min(to, high)) return true;
  }
  return false;
}

function gapsOf(entries: LockEntries, sessions: Sessions, { cores }: Exclusion): Gap[] {
  const { size, kind, invoked, returned } = entries;
  const { earliestBegin, latestBegin, latestEnd } = sessions;
  const gaps = new Map<number, Gap>();
  for (let entry = 0; entry < size; entry++) {
    const stamp = returned[entry] ?? 0;
    if (kind[entry] !== Kind.busy || stamp === NEVER) continue;
    // The sessions on both sides: the last whose core begins before the try returned, and the one after it.
    const next = coresBegunBefore(cores, latestBegin, stamp);
    const before = cores[next - 1];
    const after = cores[next];
    if (before !== undefined && (latestEnd[before] ?? 0) >= (invoked[entry] ?? 0)) continue;
    if (after !== undefined && (earliestBegin[after] ?? 0) <= stamp) continue;
    if ((gaps.get(next)?.firstReturn ?? NEVER) <= stamp) continue;
    const closes = after === undefined ? NEVER : (latestBegin[after] ?? 0);
    gaps.set(next, { entry, firstReturn: stamp, closes });
  }
  return [...gaps].sort(([a], [b]) => a - b).map(([, gap]) => gap);
}

/** The first of `gaps`, which are in order of time, that `session` can serve; it can serve every later one. */
function firstServed(gaps: readonly Gap[], { earliestBegin, earliestEnd }: PossibleSession): number {
  let low = 0;
  let high = gaps.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const gap = gaps[middle];
    if (gap !== undefined && earliestBegin <= gap.firstReturn && earliestEnd <= gap.closes) high = middle;
    else low = middle + 1;
  }
  return low;
}
