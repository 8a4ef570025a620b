// The registers of the simulated store and its audit, as tables whose changes can be taken back. Knows the columns, and
// not who may write (`store-statements.ts`).

import type { Row } from '../../postgres/session.ts';
import { SqlError, type Undo } from './statement.ts';

export interface Register {
  value: string;
  version: number;
  highest: bigint | undefined;
  /** Those that were applied. */
  readonly orders: Set<string>;
}

interface Audited {
  readonly seq: number;
  readonly row: Row;
}

/** What a write makes of a register. */
export type Change = Partial<Omit<Register, 'orders'>>;

/** Empty at first. */
export function storeRegisters() {
  /** By defence and key. */
  const registers = new Map<string, Register>();
  /** The same, in the order of `seq`. */
  const audit = new Map<string, Audited[]>();
  let seq = 0;
  return {
    seed(defence: string, key: string, value: string): void {
      const name = `${defence} ${key}`;
      if (!registers.has(name))
        registers.set(name, { value, version: 0, highest: undefined, orders: new Set() });
    },
    find: (defence: string, key: string): Register | undefined => registers.get(`${defence} ${key}`),
    /** Throws SqlError if there is none, as `select … into strict` does. */
    at(defence: string, key: string): Register {
      const register = registers.get(`${defence} ${key}`);
      if (register === undefined) throw new SqlError('P0002');
      return register;
    },
    change(register: Register, to: Change, undo: Undo): void {
      const { value, version, highest } = register;
      Object.assign(register, to);
      undo.push(() => void Object.assign(register, { value, version, highest }));
    },
    apply(order: string | undefined, { orders }: Register, undo: Undo): void {
      if (order === undefined || orders.has(order)) return;
      orders.add(order);
      undo.push(() => void orders.delete(order));
    },
    record(defence: string, key: string, row: Row, undo: Undo): void {
      // A sequence gives no number twice, whatever is undone.
      seq += 1;
      const entry = { seq, row: { seq: String(seq), ...row } };
      const name = `${defence} ${key}`;
      const entries = audit.get(name) ?? [];
      audit.set(name, entries);
      entries.push(entry);
      undo.push(() => void entries.splice(entries.lastIndexOf(entry), 1));
    },
    /** The rows after number `after`, at most `limit` of them. */
    audited(defence: string, key: string, after: number, limit: number): readonly Row[] {
      const entries = audit.get(`${defence} ${key}`) ?? [];
      const first = entries.findIndex(({ seq: number }) => number > after);
      return first < 0 ? [] : entries.slice(first, first + limit).map(({ row }) => row);
    },
  };
}
