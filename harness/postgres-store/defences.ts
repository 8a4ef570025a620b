// The defences that PostgreSQL can run, as data: their names are the `store` of read and write operations in a history.
// What each does is in `schema.ts`; here is only what people, plans and clients need to know.

import type { Defence } from '../contract/store.ts';

export interface StoreDefence extends Defence {
  /** The word for a write that it refuses. */
  readonly refusal: string;
}

export const defences: readonly StoreDefence[] = [
  { name: 'none', summary: 'takes every write', needsToken: false, refusal: 'refused' },
  {
    name: 'fence-on-write',
    summary: 'refuses a write whose token is below the highest one written with; equal: the same tenure',
    needsToken: true,
    refusal: 'stale-token',
  },
  {
    name: 'fence-on-read-and-write',
    summary: 'as fence-on-write, but a read raises the mark too, and is refused if its token is below it',
    needsToken: true,
    refusal: 'stale-token',
  },
  {
    name: 'version-cas',
    summary: 'refuses a write that was computed from another version than the one that is there',
    needsToken: false,
    refusal: 'version-conflict',
  },
  {
    name: 'row-lock',
    summary: 'SELECT … FOR UPDATE, and one transaction from the read to the write',
    needsToken: false,
    refusal: 'no-transaction',
  },
  {
    name: 'conditional-update',
    summary: 'one statement adds to what is there, unless that would make it negative or the order is in it',
    needsToken: false,
    relative: true,
    refusal: 'condition-not-met',
  },
  {
    name: 'unique-constraint',
    summary: 'each step of a key is a row with a unique number, and each order (idempotency key) has one row',
    needsToken: false,
    refusal: 'not-unique',
  },
  {
    name: 'serialized-queue',
    summary: 'writes are queued; a single writer applies them one by one, and decides with nobody beside it',
    needsToken: false,
    relative: true,
    refusal: 'refused-by-writer',
  },
];
