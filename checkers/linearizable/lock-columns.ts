// Builds the columns of `LockEntries` row by row: numbers owners and tokens as they come.

import { interner, NONE, type Kind, type LockEntries } from './entries.ts';
import { ascending } from './token-ranks.ts';

interface LockRow {
  readonly kind: Kind;
  /** As `ownerNamed` numbers it. */
  readonly owner: number;
  readonly invoked: number;
  readonly returned: number;
  readonly token: bigint | undefined;
  readonly lease: number;
  readonly id: number;
}

export interface LockColumns {
  readonly ownerNamed: (owner: string) => number;
  /** Takes the next row in order of invocation. */
  add(row: LockRow): void;
  finish(): LockEntries;
}

export function lockColumns(): LockColumns {
  const invoked: number[] = [];
  const returned: number[] = [];
  const kind: number[] = [];
  const id: number[] = [];
  const owner: number[] = [];
  const token: number[] = [];
  const lease: number[] = [];
  const owners = interner<string>();
  const tokens = interner<bigint>();
  return {
    ownerNamed: owners,
    add(row) {
      invoked.push(row.invoked);
      returned.push(row.returned);
      kind.push(row.kind);
      id.push(row.id);
      owner.push(row.owner);
      token.push(row.token === undefined ? NONE : tokens(row.token));
      lease.push(row.lease);
    },
    finish: () => ({
      size: id.length,
      invoked: Float64Array.from(invoked),
      returned: Float64Array.from(returned),
      kind: Uint8Array.from(kind),
      id: Float64Array.from(id),
      owner: Int32Array.from(owner),
      owners: owners.things,
      lease: Float64Array.from(lease),
      ...ascending(Int32Array.from(token), tokens.things),
    }),
  };
}
