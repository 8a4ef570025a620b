// Builds the columns of `LockEntries` row by row: numbers owners and tokens as they come.

import { interner, NONE, type Kind, type LockEntries } from './entries.ts';

export interface LockRow {
  readonly kind: Kind;
  readonly owner: string;
  readonly invoked: number;
  readonly returned: number;
  readonly token: bigint | undefined;
  readonly lease: number;
  readonly id: number;
}

/** Collects at most `capacity` rows, which come in order of invocation. */
export function lockColumns(capacity: number): { add(row: LockRow): void; finish(): LockEntries } {
  const columns = {
    invoked: new Float64Array(capacity),
    returned: new Float64Array(capacity),
    kind: new Uint8Array(capacity),
    id: new Float64Array(capacity),
    owner: new Int32Array(capacity),
    token: new Int32Array(capacity).fill(NONE),
    lease: new Float64Array(capacity),
  };
  const owners = interner<string>();
  const tokens = interner<bigint>();
  let size = 0;
  return {
    add(row) {
      columns.invoked[size] = row.invoked;
      columns.returned[size] = row.returned;
      columns.kind[size] = row.kind;
      columns.id[size] = row.id;
      columns.owner[size] = owners(row.owner);
      columns.lease[size] = row.lease;
      if (row.token !== undefined) columns.token[size] = tokens(row.token);
      size++;
    },
    finish: () => ({ ...columns, size, owners: owners.things, ...ascending(columns.token, tokens.things) }),
  };
}

/** Renumbers tokens so that they compare as their numbers do. */
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
