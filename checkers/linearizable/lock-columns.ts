// Builds the columns of `LockEntries` row by row: numbers owners as they come, and tokens in the end.

import { NONE, type Kind, type LockEntries } from './entries.ts';
import { textInterner } from './text-interner.ts';
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

const ROWS_AT_FIRST = 64;

export function lockColumns(): LockColumns {
  let invoked = new Float64Array(ROWS_AT_FIRST);
  let returned = new Float64Array(ROWS_AT_FIRST);
  let kind = new Uint8Array(ROWS_AT_FIRST);
  let id = new Float64Array(ROWS_AT_FIRST);
  let owner = new Int32Array(ROWS_AT_FIRST);
  let token = new Int32Array(ROWS_AT_FIRST);
  let lease = new Float64Array(ROWS_AT_FIRST);
  let size = 0;
  const owners = textInterner();
  const tokens: bigint[] = [];
  const makeRoom = (): void => {
    invoked = new Float64Array(grown(invoked));
    returned = new Float64Array(grown(returned));
    kind = new Uint8Array(grown(kind));
    id = new Float64Array(grown(id));
    owner = new Int32Array(grown(owner));
    token = new Int32Array(grown(token));
    lease = new Float64Array(grown(lease));
  };
  return {
    ownerNamed: owners,
    add(row) {
      if (size === kind.length) makeRoom();
      invoked[size] = row.invoked;
      returned[size] = row.returned;
      kind[size] = row.kind;
      id[size] = row.id;
      owner[size] = row.owner;
      token[size] = row.token === undefined ? NONE : tokens.push(row.token) - 1;
      lease[size] = row.lease;
      size++;
    },
    finish: () => ({
      size,
      invoked: invoked.subarray(0, size),
      returned: returned.subarray(0, size),
      kind: kind.subarray(0, size),
      id: id.subarray(0, size),
      owner: owner.subarray(0, size),
      owners: owners.things,
      lease: lease.subarray(0, size),
      ...ascending(token.subarray(0, size), tokens),
    }),
  };
}

/** What is in `column`, and three times as much room again. */
function grown({ buffer }: { readonly buffer: ArrayBuffer }): ArrayBuffer {
  return buffer.transfer(4 * buffer.byteLength);
}
