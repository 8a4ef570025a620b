// How the timeline's columns are written so that they are small: which other columns each is grouped by. Pure.

import { packed, type ColumnForm } from './pack.ts';
import type { TimelineColumns } from './timeline-columns.ts';

/** Each column after those that it is grouped by; ids grow with time, or with the time of their process. */
function forms({ id }: TimelineColumns['operations']): readonly ColumnForm[] {
  const growing = Array.from(id).every((each, row) => row === 0 || each > (id[row - 1] ?? 0));
  const ofOperations: readonly (readonly [keyof TimelineColumns['operations'], ...string[]])[] = [
    ['process'],
    ['id', ...(growing ? [] : ['process'])],
    ['kind', 'process'],
    ['lock', 'process'],
    ['store', 'kind', 'lock'],
    ['outcome', 'kind'],
    ['error', 'outcome', 'kind'],
    ['invoked'],
    ['took', 'kind'],
    ['token', 'lock'],
    ['value', 'store'],
    ['base', 'store'],
    ['highest', 'lock'],
  ];
  const sparse = new Set<string>(['token', 'value', 'base', 'highest']);
  return [
    ...ofOperations.map(([column, ...by]) => ({
      table: 'operations',
      column,
      by,
      sparse: sparse.has(column),
    })),
    ...GRANT_COLUMNS.map((column) => ({ table: 'grants', column, by: [], sparse: false })),
  ];
}

const GRANT_COLUMNS = ['operation', 'held', 'endedBy', 'released', 'tenure', 'slack', 'row'] as const;

/** The columns as they stand in the page. */
export function packedColumns({ operations, grants, ...head }: TimelineColumns): string {
  return packed(head, { operations, grants }, forms(operations));
}
