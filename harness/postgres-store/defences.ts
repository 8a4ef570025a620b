// The defences that PostgreSQL can run, as data: their names are the `store` of read and write operations in a history.
// What each does is in `schema.ts`; here is only what people and plans need to know.

import type { Defence } from '../contract/store.ts';

export const defences: readonly Defence[] = [
  { name: 'none', summary: 'takes every write', needsToken: false },
  {
    name: 'fence-on-write',
    summary: 'refuses a write whose token is below the highest one written with; equal: the same tenure',
    needsToken: true,
  },
  {
    name: 'fence-on-read-and-write',
    summary: 'as fence-on-write, but a read raises the mark too, and is refused if its token is below it',
    needsToken: true,
  },
];
