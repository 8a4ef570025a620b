// Operation id → its row in the columns while a history is read, and whether its completion has been seen. Ids usually count
// up, so they stand in pages.

import { NONE } from './operation-columns.ts';

interface RowsById {
  has(id: number): boolean;
  add(id: number, row: number): void;
  /** The row of an operation that was not settled; `NONE`: there is none. */
  pending(id: number): number;
  settle(id: number): void;
}

const PAGE_IDS = 64;

/** Of an id within its page. */
function placeOf(id: number): number {
  return id - Math.floor(id / PAGE_IDS) * PAGE_IDS;
}

export function rowsById(): RowsById {
  /** A row from 1 on; negative: it is settled; 0: there is none. */
  const pages = new Map<number, Int32Array>();
  const pageOf = (id: number): Int32Array | undefined => pages.get(Math.floor(id / PAGE_IDS));
  return {
    has: (id) => (pageOf(id)?.[placeOf(id)] ?? 0) !== 0,
    add(id, row) {
      let page = pageOf(id);
      if (page === undefined) pages.set(Math.floor(id / PAGE_IDS), (page = new Int32Array(PAGE_IDS)));
      page[placeOf(id)] = row + 1;
    },
    pending: (id) => Math.max((pageOf(id)?.[placeOf(id)] ?? 0) - 1, NONE),
    settle(id) {
      const page = pageOf(id);
      if (page !== undefined) page[placeOf(id)] = -(page[placeOf(id)] ?? 0);
    },
  };
}
