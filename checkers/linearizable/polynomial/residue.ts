// What a checker without search leaves to it: not the whole partition, but the gaps between cores that depend on each other,
// with the sessions beside and inside them and the tries there. A session begins in one gap and ends in the next, and the
// two do not depend on each other, so gaps that no session can choose between are judged by themselves. What may have
// happened anywhere, an acquire of unknown outcome, is left out at first: gaps that can do without are settled. Those
// that cannot compete for it, and are searched together. Exact, because dropping a whole session forbids nothing, every
// try that is kept has all beside it that can explain it, and the cores beside a gap keep what may have happened from
// explaining tries of two. O(n).

import { Kind, NONE, type LockEntries } from '../entries.ts';
import { coresBegunBefore, type Exclusion } from './exclusion.ts';
import type { Excerpt, Residue } from './decision.ts';
import type { Sessions } from './sessions.ts';

/** Gaps `from` to `to` between cores; gap `n` is the one before core `n`. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** `stretches`: disjoint, and no session can choose between two of them. `tries`: by gap those that no core explains. */
export function residueOf(
  entries: LockEntries,
  sessions: Sessions,
  { cores, points }: Exclusion,
  {
    tries,
    stretches,
  }: {
    readonly tries: ReadonlyMap<number, readonly number[]>;
    readonly stretches: readonly Stretch[];
  },
): Residue<LockEntries> {
  const { size, kind, owner, owners } = entries;
  const { acquire, earliestEnd, latestBegin } = sessions;
  const partOfGap = new Int32Array(cores.length + 1).fill(NONE);
  for (const [part, { from, to }] of stretches.entries()) partOfGap.fill(part, from, to + 1);
  /** By the acquire of a session: the number of its core, or the part that it is a point of. */
  const coreOf = new Int32Array(size).fill(NONE);
  const pointIn = new Int32Array(size).fill(NONE);
  const isCertain = new Uint8Array(size);
  for (const [core, row] of cores.entries()) coreOf[acquire[row] ?? 0] = core;
  for (const row of points)
    pointIn[acquire[row] ?? 0] =
      partOfGap[coresBegunBefore(cores, latestBegin, earliestEnd[row] ?? 0)] ?? NONE;
  for (let row = 0; row < sessions.count; row++) isCertain[acquire[row] ?? 0] = 1;
  /** By entry: the acquire of its session, or `NONE`. */
  const sessionOf = new Int32Array(size).fill(NONE);
  const current = new Int32Array(owners.length).fill(NONE);
  for (let entry = 0; entry < size; entry++) {
    if (kind[entry] === Kind.busy) continue;
    const who = owner[entry] ?? 0;
    if (kind[entry] === Kind.acquire) current[who] = entry;
    sessionOf[entry] = current[who] ?? NONE;
  }
  /** By entry: the part that it is a try of. */
  const triedIn = new Int32Array(size).fill(NONE);
  for (const [gap, there] of tries) for (const entry of there) triedIn[entry] = partOfGap[gap] ?? NONE;

  /** The parts that an entry is in: a session with a core ends in one and begins another. */
  const partsOf = (entry: number): ReadonlySet<number> => {
    const session = sessionOf[entry] ?? NONE;
    if (session === NONE) return new Set([triedIn[entry] ?? NONE]);
    const core = coreOf[session] ?? NONE;
    if (core === NONE) return new Set([pointIn[session] ?? NONE]);
    return new Set([partOfGap[core] ?? NONE, partOfGap[core + 1] ?? NONE]);
  };
  const mayHaveHappened = (entry: number): boolean => {
    const session = sessionOf[entry] ?? NONE;
    return session !== NONE && isCertain[session] === 0;
  };
  const parts = stretches.map((): number[] => []);
  for (let entry = 0; entry < size; entry++) for (const part of partsOf(entry)) parts[part]?.push(entry);
  return {
    parts: parts.map((positions) => excerptOf(entries, positions)),
    together(chosen) {
      const belongs = (entry: number): boolean =>
        mayHaveHappened(entry) || chosen.some((part) => partsOf(entry).has(part));
      return excerptOf(entries, [...Array(size).keys()].filter(belongs));
    },
  };
}

function excerptOf(entries: LockEntries, positions: readonly number[]): Excerpt<LockEntries> {
  const { invoked, returned, kind, id, owner, token, lease } = entries;
  const picked = <T extends Uint8Array | Int32Array | Float64Array>(column: T, into: T): T => {
    for (const [row, position] of positions.entries()) into[row] = column[position] ?? 0;
    return into;
  };
  const size = positions.length;
  return {
    positions,
    entries: {
      ...entries,
      size,
      invoked: picked(invoked, new Float64Array(size)),
      returned: picked(returned, new Float64Array(size)),
      kind: picked(kind, new Uint8Array(size)),
      id: picked(id, new Float64Array(size)),
      owner: picked(owner, new Int32Array(size)),
      token: picked(token, new Int32Array(size)),
      lease: picked(lease, new Float64Array(size)),
    },
  };
}
