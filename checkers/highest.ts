// Where, from some position on, the first value stands that is large enough: a tree of maxima laid flat (a tournament). Each
// value belongs to a group, and one group can be left out: a node knows its highest value and the highest of any other
// group. Stands behind every "the first later one of another process that …", so that none of them is a loop over all.
// Pure; knows no rule.

export interface Highest {
  /**
   * The first position from `from` on whose value is at least `least` and whose group is not `except`; the number of
   * positions if there is none. O(log n).
   */
  first(from: number, least: number, except?: number): number;
}

/** No group has this number. */
const NO_GROUP = -1;

/** `groups` are numbered from 0; without them nothing can be left out. O(n). */
export function highestOf(values: Float64Array, groups?: Int32Array): Highest {
  const { length } = values;
  let leaves = 1;
  while (leaves < length) leaves *= 2;
  const best = new Float64Array(2 * leaves).fill(-Infinity);
  const groupOfBest = new Int32Array(2 * leaves).fill(NO_GROUP);
  const bestOfOthers = new Float64Array(2 * leaves).fill(-Infinity);
  best.set(values, leaves);
  if (groups !== undefined) groupOfBest.set(groups, leaves);
  for (let node = leaves - 1; node > 0; node--) {
    const [left, right] = [2 * node, 2 * node + 1];
    const [winner, loser] = (best[left] ?? 0) >= (best[right] ?? 0) ? [left, right] : [right, left];
    best[node] = best[winner] ?? 0;
    groupOfBest[node] = groupOfBest[winner] ?? 0;
    const ofLoser = groupOfBest[loser] === groupOfBest[winner] ? bestOfOthers[loser] : best[loser];
    bestOfOthers[node] = Math.max(bestOfOthers[winner] ?? 0, ofLoser ?? 0);
  }
  return {
    first(from, least, except) {
      if (from >= length) return length;
      const reaches = (node: number): boolean =>
        ((groupOfBest[node] === except ? bestOfOthers[node] : best[node]) ?? 0) >= least;
      let node = from + leaves;
      while (!reaches(node)) {
        // To the next node on the right that has not been looked at; past the last one there is none.
        while (node % 2 === 1) node = (node - 1) / 2;
        if (node === 0) return length;
        node += 1;
      }
      while (node < leaves) {
        node *= 2;
        if (!reaches(node)) node += 1;
      }
      return node - leaves;
    },
  };
}
