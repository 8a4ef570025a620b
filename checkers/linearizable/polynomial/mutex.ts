// The ownerless mutex without search. Sweep the returns: whatever returns must have taken effect, and if the lock is not
// as it needs it, a pending operation of the opposite kind must have done so before. Of those take the one that returns
// first: in any order that uses another one, the two can be exchanged (earliest deadline first). Doing nothing before it
// is needed never loses either: a pair of opposite operations can always be moved to the return that needs it. Unknown
// outcomes are deadlines that never come. O(n log n).

import { Kind, NEVER, NONE, refusesTries, type LockEntries } from '../entries.ts';
import { UNDECIDED, VALID, type Decision } from './decision.ts';
import { sortRows } from '../../../harness/history/sort-rows.ts';

export function decideMutex(entries: LockEntries): Decision {
  const { size, kind, invoked, returned } = entries;
  // Whether the lock was held at some instant of a try depends on more than the order of the others.
  if (refusesTries(entries)) return UNDECIDED;
  const byReturn: number[] = [];
  for (let entry = 0; entry < size; entry++) {
    if (returned[entry] !== NEVER) byReturn.push(entry);
  }
  const acquires = pendingByReturn(returned);
  const releases = pendingByReturn(returned);
  const done = new Uint8Array(size);
  let held = false;
  /** The entry that made the lock as it is. */
  let maker = NONE;
  let next = 0;
  for (const entry of sortRows(byReturn, returned)) {
    const stamp = returned[entry] ?? 0;
    for (; next < size && (invoked[next] ?? 0) <= stamp; next++) {
      if (kind[next] === Kind.acquire) acquires.push(next);
      else if (kind[next] === Kind.release || kind[next] === Kind.releaseUnchecked) releases.push(next);
      else done[next] = 1;
    }
    if (done[entry] === 1) continue;
    const acquiring = kind[entry] === Kind.acquire;
    if (held === acquiring) {
      const opposite = (acquiring ? releases : acquires).takeFirst(done);
      if (opposite === NONE)
        return {
          verdict: 'invalid',
          refuted: entry,
          conflict: maker === NONE ? [entry] : [maker, entry],
          reason: 'no-opposite',
        };
      done[opposite] = 1;
    }
    done[entry] = 1;
    held = acquiring;
    maker = entry;
  }
  return VALID;
}

interface Pending {
  push(entry: number): void;
  /** Removes and returns the entry that returns first, leaving out those in `done`; `NONE` if there is none. */
  takeFirst(done: Uint8Array): number;
}

/** A binary heap. */
function pendingByReturn(returned: Float64Array): Pending {
  const heap: number[] = [];
  const stampAt = (position: number): number => returned[heap[position] ?? NONE] ?? Infinity;
  const swap = (a: number, b: number): void => {
    const held = heap[a] ?? NONE;
    heap[a] = heap[b] ?? NONE;
    heap[b] = held;
  };
  const removeFirst = (): number => {
    const first = heap[0] ?? NONE;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let hole = 0; ;) {
      const left = 2 * hole + 1;
      const child = left + 1 < heap.length && stampAt(left + 1) < stampAt(left) ? left + 1 : left;
      if (child >= heap.length || stampAt(child) >= stampAt(hole)) return first;
      swap(hole, child);
      hole = child;
    }
  };
  return {
    push(entry) {
      heap.push(entry);
      for (let hole = heap.length - 1; hole > 0;) {
        const parent = (hole - 1) >> 1;
        if (stampAt(parent) <= stampAt(hole)) return;
        swap(hole, parent);
        hole = parent;
      }
    },
    takeFirst(done) {
      while (heap.length > 0) {
        const first = removeFirst();
        if (done[first] !== 1) return first;
      }
      return NONE;
    },
  };
}
