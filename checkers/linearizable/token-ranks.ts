// Tokens of 64 bits as small whole numbers that compare as the tokens do.

import { NONE } from './entries.ts';

/** Renumbers a column of indices into `tokens`, which are distinct, so that they compare as the tokens do. O(n + t log t). */
export function ascending(
  token: Int32Array,
  tokens: readonly bigint[],
): { readonly token: Int32Array; readonly tokens: readonly bigint[] } {
  const order = [...tokens.keys()].sort((a, b) => ((tokens[a] ?? 0n) < (tokens[b] ?? 0n) ? -1 : 1));
  const rank = new Int32Array(tokens.length);
  for (const [position, number] of order.entries()) rank[number] = position;
  return {
    token: token.map((number) => (number === NONE ? NONE : (rank[number] ?? NONE))),
    tokens: order.map((number) => tokens[number] ?? 0n),
  };
}
