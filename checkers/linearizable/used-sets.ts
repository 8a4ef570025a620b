// Sets of optional entries that a configuration of the search has made use of. Few differ, and each grows out of another
// by one entry, so each is stored once and known by a number; 0 is the empty set.

export interface UsedSets {
  has(set: number, position: number): boolean;
  /** The set with `position` added. */
  with(set: number, position: number): number;
  /** Everything in `inner` is in `outer`. */
  includes(outer: number, inner: number): boolean;
  readonly bytes: () => number;
}

/** Sets of positions from 0 to `positions` - 1. */
export function createUsedSets(positions: number): UsedSets {
  const words = Math.ceil(positions / 32);
  let sets = new Int32Array(Math.max(words, 1) * 16);
  let count = 1;
  const grown = new Map<number, number>();
  /** By hash: the sets that have it. */
  const known = new Map<number, number[]>();

  const equal = (a: number, b: number): boolean => {
    for (let word = 0; word < words; word++)
      if (sets[a * words + word] !== sets[b * words + word]) return false;
    return true;
  };

  return {
    has: (set, position) => (((sets[set * words + (position >>> 5)] ?? 0) >>> (position & 31)) & 1) === 1,
    with(set, position) {
      const step = set * positions + position;
      const before = grown.get(step);
      if (before !== undefined) return before;
      if ((count + 1) * words > sets.length) {
        const larger = new Int32Array(sets.length * 2);
        larger.set(sets);
        sets = larger;
      }
      sets.copyWithin(count * words, set * words, (set + 1) * words);
      const word = count * words + (position >>> 5);
      sets[word] = (sets[word] ?? 0) | (1 << (position & 31));
      let hash = 0;
      for (let index = 0; index < words; index++)
        hash = (Math.imul(hash, 0x9e3779b1) ^ (sets[count * words + index] ?? 0)) | 0;
      const sameHash = known.get(hash) ?? [];
      const same = sameHash.find((other) => equal(other, count)) ?? count;
      if (same === count) {
        known.set(hash, [...sameHash, count]);
        count++;
      }
      grown.set(step, same);
      return same;
    },
    includes(outer, inner) {
      for (let word = 0; word < words; word++)
        if (((sets[inner * words + word] ?? 0) & ~(sets[outer * words + word] ?? 0)) !== 0) return false;
      return true;
    },
    bytes: () => sets.byteLength + 64 * (grown.size + known.size),
  };
}
