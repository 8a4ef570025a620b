// Tokens of 64 bits as small whole numbers that compare as the tokens do.

import { NONE } from './entries.ts';

/**
 * From a column of indices into `tokens` to one of indices into the same tokens, ascending and distinct. O(n + t log t).
 */
export function ascending(
  token: Int32Array,
  tokens: readonly bigint[],
): { readonly token: Int32Array; readonly tokens: readonly bigint[] } {
  const order = tokens
    .map((_, index) => index)
    .sort((a, b) => ((tokens[a] ?? 0n) < (tokens[b] ?? 0n) ? -1 : 1));
  const rank = new Int32Array(tokens.length);
  const distinct: bigint[] = [];
  for (const index of order) {
    const value = tokens[index] ?? 0n;
    if (distinct.at(-1) !== value) distinct.push(value);
    rank[index] = distinct.length - 1;
  }
  return {
    token: token.map((index) => (index === NONE ? NONE : (rank[index] ?? NONE))),
    tokens: distinct,
  };
}
