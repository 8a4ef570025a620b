// Builds the columns of `StoreEntries` row by row: numbers values, tokens, registers and transactions as they come.

import { interner, NONE, type Access, type Kind, type StoreEntries } from './entries.ts';
import { ascending } from './token-ranks.ts';

interface StoreRow {
  readonly kind: Kind;
  readonly invoked: number;
  readonly returned: number;
  readonly id: number;
  /** undefined: a read did not say. */
  readonly value?: string | undefined;
  readonly expected?: string | undefined;
  readonly token?: bigint | undefined;
  readonly transaction?: readonly NamedAccess[];
}

export interface NamedAccess {
  readonly write: boolean;
  readonly register: string;
  readonly value: string | undefined;
}

export interface StoreColumns {
  /** Takes the next row in order of invocation. */
  add(row: StoreRow): void;
  finish(): StoreEntries;
}

/** For at most `capacity` rows of a store whose values are `initial` at first. */
export function storeColumns(capacity: number, initial: string): StoreColumns {
  const columns = {
    invoked: new Float64Array(capacity),
    returned: new Float64Array(capacity),
    kind: new Uint8Array(capacity),
    id: new Float64Array(capacity),
    value: new Int32Array(capacity).fill(NONE),
    expected: new Int32Array(capacity).fill(NONE),
    token: new Int32Array(capacity).fill(NONE),
  };
  const values = interner(initial);
  const tokens = interner<bigint>();
  const registers = interner<string>();
  const transactions: Access[][] = [];
  const numberOf = (value: string | undefined): number => (value === undefined ? NONE : values(value));
  let size = 0;
  return {
    add(row) {
      columns.invoked[size] = row.invoked;
      columns.returned[size] = row.returned;
      columns.kind[size] = row.kind;
      columns.id[size] = row.id;
      columns.value[size] = numberOf(row.value);
      columns.expected[size] = numberOf(row.expected);
      if (row.token !== undefined) columns.token[size] = tokens(row.token);
      if (row.transaction !== undefined) {
        columns.value[size] = transactions.length;
        transactions.push(
          row.transaction.map(({ write, register, value }) => ({
            write,
            register: registers(register),
            value: numberOf(value),
          })),
        );
      }
      size++;
    },
    finish: () => ({
      ...columns,
      size,
      values: values.things,
      ...ascending(columns.token, tokens.things),
      transactions,
      registers: registers.things,
    }),
  };
}
