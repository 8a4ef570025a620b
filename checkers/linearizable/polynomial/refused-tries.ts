// Refused tries as evidence: at some instant of each, somebody held the lock. Sessions that can follow each other
// (`exclusion.ts`) may be stretched as far as their ends allow, so between two cores the lock is surely free only from
// the return of one session's release to the invocation of the next acquire. A try wholly inside such a gap needs an
// acquire of unknown outcome that held the lock there. One that was invoked before the first such try returned, and can
// be over when the next session must begin, serves the whole gap; it can serve one gap only, and whichever can serve a
// gap can serve every later one, so counting decides (Hall's theorem, for sets that only grow). O(n log n).
// Where an unchecked renewal prolongs a session only if that began early, to explain a try has its price: that is searched.
// Counting is not enough where sessions without a core, answers to owners, or releases that did not check the owner restrict
// who can serve. Then the gaps that those connect are left to a search, and only they (`residue.ts`).

import { Kind, NEVER, NONE, refusesTries, type LockEntries } from '../entries.ts';
import { UNDECIDED, VALID, type Decision } from './decision.ts';
import { coresBegunBefore, type Exclusion } from './exclusion.ts';
import { residueOf, type Stretch } from './residue.ts';
import type { PossibleSession, Sessions } from './sessions.ts';

/** A time at which the lock is surely free, though a try says that it was not. */
interface Gap {
  /** The try there that returned first. */
  readonly entry: number;
  readonly firstReturn: number;
  /** When the next session must have begun; `NEVER` after the last one. */
  readonly closes: number;
}

/** Gaps that depend on each other. */
interface Connected extends Stretch {
  /** What connects them takes nothing from the time at which others can hold the lock. */
  readonly isHarmless: boolean;
}

/** Of entries of which nothing else is refuted. */
export function decideRefusedTries(
  entries: LockEntries,
  asked: Sessions,
  exclusion: Exclusion,
): Decision<LockEntries> {
  if (!refusesTries(entries)) return VALID;
  const { latestEnd, unclear } = endsByAnswers(entries, asked);
  const sessions = { ...asked, latestEnd };
  const tries = looseTries(entries, sessions, exclusion);
  if (tries.size === 0) return VALID;
  if (sessions.endsDepend) return UNDECIDED;
  const gaps = gapsOf(entries, sessions, exclusion, tries);
  const stretches = stretchesOf(sessions, exclusion, unclear).filter((stretch) => {
    for (let gap = stretch.from; gap <= stretch.to; gap++)
      if (gaps.has(gap) || (tries.has(gap) && !stretch.isHarmless)) return true;
    return false;
  });
  if (gaps.size === 0 && stretches.length === 0) return VALID;
  // Where a session with a token has its place depends on tokens anywhere.
  if (sessions.possible.some(({ token }) => token !== NONE)) return UNDECIDED;
  const restricted =
    stretches.length > 0 ||
    sessions.disowned.some(({ row }) => row === NONE) ||
    sessions.possible.some((session) => session.latestEnd !== NEVER);
  if (!restricted) return served([...gaps.values()], sessions.possible);
  const alone = [...gaps.keys()]
    .filter((gap) => !stretches.some(({ from, to }) => from <= gap && gap <= to))
    .map((gap) => ({ from: gap, to: gap }));
  const residue = residueOf(entries, sessions, exclusion, { tries, stretches: [...stretches, ...alone] });
  return { ...UNDECIDED, residue };
}

function served(gaps: readonly Gap[], possible: readonly PossibleSession[]): Decision {
  /** By gap: how many possible sessions can serve it and none before. */
  const servers = new Int32Array(gaps.length);
  for (const session of possible) {
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

/**
 * `latestEnd`, knowing that an owner who was told "not yours" after he had begun had ended by then; and the rows of whom
 * nobody knows whether he was told before he began or after he had ended.
 */
function endsByAnswers(
  { invoked, returned }: LockEntries,
  sessions: Sessions,
): { readonly latestEnd: Float64Array; readonly unclear: ReadonlySet<number> } {
  const latestEnd = sessions.latestEnd.slice();
  const unclear = new Set<number>();
  for (const { entry, row } of sessions.disowned) {
    if (row === NONE || (returned[entry] ?? 0) < (sessions.earliestBegin[row] ?? 0)) continue;
    if ((invoked[entry] ?? 0) <= (sessions.latestBegin[row] ?? 0)) unclear.add(row);
    else latestEnd[row] = Math.min(latestEnd[row] ?? 0, returned[entry] ?? 0);
  }
  return { latestEnd, unclear };
}

/** By gap, which is the number of cores before it: the tries there, which no core explains. */
function looseTries(
  { size, kind, invoked, returned }: LockEntries,
  { latestBegin, earliestEnd }: Sessions,
  { cores }: Exclusion,
): ReadonlyMap<number, readonly number[]> {
  const tries = new Map<number, number[]>();
  for (let entry = 0; entry < size; entry++) {
    const stamp = returned[entry] ?? 0;
    if (kind[entry] !== Kind.busy || stamp === NEVER) continue;
    const gap = coresBegunBefore(cores, latestBegin, stamp);
    const before = cores[gap - 1];
    if (before !== undefined && (earliestEnd[before] ?? 0) > (invoked[entry] ?? 0)) continue;
    const there = tries.get(gap);
    if (there === undefined) tries.set(gap, [entry]);
    else there.push(entry);
  }
  return tries;
}

/** By gap, in order of time: the try that neither session beside it can explain. */
function gapsOf(
  { invoked, returned }: LockEntries,
  { earliestBegin, latestBegin, latestEnd }: Sessions,
  { cores }: Exclusion,
  tries: ReadonlyMap<number, readonly number[]>,
): ReadonlyMap<number, Gap> {
  const gaps = new Map<number, Gap>();
  for (const gap of [...tries.keys()].sort((a, b) => a - b)) {
    const before = cores[gap - 1];
    const after = cores[gap];
    for (const entry of tries.get(gap) ?? []) {
      const stamp = returned[entry] ?? 0;
      if (before !== undefined && (latestEnd[before] ?? 0) >= (invoked[entry] ?? 0)) continue;
      if (after !== undefined && (earliestBegin[after] ?? 0) <= stamp) continue;
      if ((gaps.get(gap)?.firstReturn ?? NEVER) <= stamp) continue;
      const closes = after === undefined ? NEVER : (latestBegin[after] ?? 0);
      gaps.set(gap, { entry, firstReturn: stamp, closes });
    }
  }
  return gaps;
}

/** Gaps that depend on each other, because a session without a core may be in any of them, or an unclear answer in two. */
function stretchesOf(sessions: Sessions, exclusion: Exclusion, unclear: ReadonlySet<number>): Connected[] {
  const { cores, points } = exclusion;
  const { latestBegin, earliestEnd, latestEnd } = sessions;
  const found = points.map((point) => {
    const low = earliestEnd[point] ?? 0;
    const high = Math.min(latestBegin[point] ?? 0, latestEnd[point] ?? 0);
    const from = coresBegunBefore(cores, latestBegin, low);
    let to = from;
    while (to < cores.length && (earliestEnd[cores[to] ?? 0] ?? 0) <= high) to++;
    return { from, to, isHarmless: isHarmless(point, sessions, exclusion) };
  });
  for (const [gap, row] of cores.entries())
    if (unclear.has(row)) found.push({ from: gap, to: gap + 1, isHarmless: false });
  return joined(found);
}

/** Those that have a gap in common, as one. */
function joined(stretches: readonly Connected[]): Connected[] {
  const all: { from: number; to: number; isHarmless: boolean }[] = [];
  for (const next of stretches.toSorted((a, b) => a.from - b.from)) {
    const last = all.at(-1);
    if (last === undefined || last.to < next.from) all.push({ ...next });
    else {
      last.to = Math.max(last.to, next.to);
      last.isHarmless &&= next.isHarmless;
    }
  }
  return all;
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

/** The first of `gaps` that `session` can serve; it can serve every later one. */
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
