// Operations as comma-separated values (RFC 4180), one a line, for spreadsheets and data frames.

import type { Operation } from '../history/history.ts';

const COLUMNS = [
  'id',
  'process',
  'op',
  'outcome',
  'invoked_ns',
  'completed_ns',
  'lock',
  'store',
  'key',
  'owner',
  'value',
  'base',
  'version',
  'token',
  'released',
  'ttl_ms',
  'error',
  'shared',
  'add',
  'order',
] as const;

type Row = Partial<Record<(typeof COLUMNS)[number], string | number | boolean | bigint | undefined>>;

/** In order of invocation. */
export function* csvLines(operations: readonly Operation[]): Generator<string> {
  yield `${COLUMNS.join(',')}\r\n`;
  for (const operation of operations) {
    const row = rowOf(operation);
    yield `${COLUMNS.map((column) => quoted(row[column])).join(',')}\r\n`;
  }
}

function rowOf(operation: Operation): Row {
  const { id, process, op, outcome, error, lock } = operation;
  const common = {
    id,
    process,
    op,
    outcome,
    error,
    lock,
    invoked_ns: operation.invoked,
    completed_ns: operation.completed,
  };
  switch (operation.op) {
    case 'acquire':
      return {
        ...common,
        owner: operation.owner,
        token: operation.token,
        ttl_ms: operation.ttlMillis,
        shared: operation.shared,
      };
    case 'renew':
      return { ...common, ttl_ms: operation.ttlMillis };
    case 'release':
      return { ...common, released: operation.released };
    case 'read':
    case 'write':
    case 'cas': {
      const { store, key, value, version, token, order } = operation;
      const { base, add } = operation.op === 'read' ? {} : operation;
      return { ...common, store, key, value, version, token, order, base, add };
    }
  }
}

function quoted(value: Row[keyof Row]): string {
  const words = value === undefined ? '' : String(value);
  return /[",\r\n]/.test(words) ? `"${words.replaceAll('"', '""')}"` : words;
}
