// What each error of ZooKeeper, or of the connection to it, means for the request: data, from which the documentation
// is generated. "Definite" means that it has not happened and never will. Whatever is not in the table is `info` (I4).

import type { ErrorMeaning, Outcome } from '../../contract/lock-client.ts';

const CODES = 'ZooKeeper 3.9, KeeperException.Code';

/** No connection could be had in time. */
export const NOT_CONNECTED: ErrorMeaning = {
  match: 'not connected',
  error: 'unavailable',
  definite: true,
  meaning:
    'No server took the session in time; the request was not handed to the driver, which would have sent it later.',
  source: 'ours: backends/zookeeper/session.ts',
};

export const TIMED_OUT: ErrorMeaning = {
  match: 'time limit',
  error: 'timeout',
  definite: false,
  meaning: 'The request was sent and not answered in time; it may have been carried out, or may yet be.',
  source: 'ours: backends/zookeeper/session.ts',
};

export const SESSION_ENDED: ErrorMeaning = {
  match: 'session ended',
  error: 'session-ended',
  definite: true,
  meaning: 'The session had ended before the request, which was not sent.',
  source: 'ours: backends/zookeeper/session.ts',
};

export const NO_NODE: ErrorMeaning = {
  match: 'NO_NODE',
  error: 'no-node',
  definite: true,
  meaning: 'There is no such node, or no parent for a new one.',
  source: CODES,
};

export const NODE_EXISTS: ErrorMeaning = {
  match: 'NODE_EXISTS',
  error: 'node-exists',
  definite: true,
  meaning: 'The node is there already.',
  source: CODES,
};

/** Matched against the name of the driver's exception. */
const MATCHED: readonly ErrorMeaning[] = [
  NO_NODE,
  NODE_EXISTS,
  {
    match: 'CONNECTION_LOSS',
    error: 'connection-lost',
    definite: false,
    meaning: 'The connection broke with the request in flight; it may have been carried out.',
    source: CODES,
  },
  {
    match: 'SESSION_EXPIRED',
    error: 'session-expired',
    definite: false,
    meaning:
      'The session ended with the request in flight. Its ephemeral nodes are gone; of others nothing is known.',
    source: CODES,
  },
  {
    match: 'OPERATION_TIMEOUT',
    error: 'server-timeout',
    definite: false,
    meaning: 'The server gave up waiting for the ensemble; the request may still be carried out.',
    source: CODES,
  },
  {
    match: 'NO_AUTH',
    error: 'no-permission',
    definite: true,
    meaning: 'The access list of the node forbids it; checked before the write.',
    source: 'ZooKeeper 3.9, PrepRequestProcessor.checkACL',
  },
  {
    match: 'NO_CHILDREN_FOR_EPHEMERALS',
    error: 'ephemeral-parent',
    definite: true,
    meaning: 'An ephemeral node cannot have children.',
    source: CODES,
  },
  {
    match: 'NOT_EMPTY',
    error: 'not-empty',
    definite: true,
    meaning: 'A node with children is not removed.',
    source: CODES,
  },
];

/** The whole table. */
export const ZOOKEEPER_ERRORS: readonly ErrorMeaning[] = [
  NOT_CONNECTED,
  TIMED_OUT,
  SESSION_ENDED,
  ...MATCHED,
];

/** A row of the table as an outcome. */
export function outcomeOf({ definite, error }: ErrorMeaning): Outcome<never> {
  return { kind: definite ? 'fail' : 'info', error };
}

/** What an error of the driver means: a row of the table, or `info` with its name. */
export function outcomeOfError({ name }: { readonly name: string }): Outcome<never> {
  const row = MATCHED.find(({ match }) => match === name);
  return row === undefined ? { kind: 'info', error: `reply: ${name}` } : outcomeOf(row);
}

/** The server has answered, which proves that the session was alive. */
export function isAnswer({ name }: { readonly name: string }): boolean {
  return !['CONNECTION_LOSS', 'SESSION_EXPIRED', 'AUTH_FAILED'].includes(name);
}
