// Sorting of row numbers by a column. Rows come nearly sorted (in order of invocation, by something not much later), which
// insertion does in one pass; if they turn out not to be, a general sort takes over.

/** Moves per row beyond which the rows count as not nearly sorted. */
const MOVES_PER_ROW_MAX = 64;

/** The rows by `column`, ascending; equal ones in the order given. */
export function sortRows(rows: readonly number[] | Int32Array, column: ArrayLike<number>): Int32Array {
  const sorted = Int32Array.from(rows);
  let moves = 0;
  for (let position = 1; position < sorted.length; position++) {
    const row = sorted[position] ?? 0;
    const key = column[row] ?? 0;
    let hole = position;
    for (; hole > 0 && (column[sorted[hole - 1] ?? 0] ?? 0) > key; hole--)
      sorted[hole] = sorted[hole - 1] ?? 0;
    sorted[hole] = row;
    moves += position - hole;
    if (moves > MOVES_PER_ROW_MAX * sorted.length)
      return Int32Array.from(rows).sort((a, b) => (column[a] ?? 0) - (column[b] ?? 0));
  }
  return sorted;
}
