// Binary search, the one way it is done everywhere: over positions, by a question that is answered `yes` up to some
// position and `no` from there on. Knows nothing of what stands at the positions.

/** The first position, of so many, at which `isBefore` does not hold; `length` if it holds at all. O(log n). */
export function partitionPoint(length: number, isBefore: (position: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
