// What each error of etcd, or of the connection to it, means for the request: data, from which the documentation is
// generated. "Definite" means that it has not happened and never will. Whatever is not in the table is `info` (I4).

import type { ErrorMeaning, Outcome } from '../../contract/lock-client.ts';

const PROPOSED = 'etcd 3.5, server/etcdserver/v3_server.go, processInternalRaftRequestOnce';

/** No connection could be opened in time. */
export const NOT_CONNECTED: ErrorMeaning = {
  match: 'No connection established',
  error: 'unavailable',
  definite: true,
  meaning: 'The server refused the connection, so the request did not leave this process.',
  source:
    'grpc-js 1.14, src/load-balancer-pick-first.ts: calls that find no ready connection are not started',
};

export const TIMED_OUT: ErrorMeaning = {
  match: 'time limit',
  error: 'timeout',
  definite: false,
  meaning: 'The request was not answered in time; it may have been carried out, or may yet be.',
  source: 'ours: backends/etcd/outcome-within.ts',
};

/** Nothing else is known to be attached to a lease that nobody knows. */
export const NO_LEASE: ErrorMeaning = {
  match: 'no lease',
  error: 'no-lease',
  definite: true,
  meaning:
    'No lease was granted, or it is not known that one was; no key was put, so the lock was not taken.',
  source: 'ours: backends/etcd/queue.ts',
};

export const LEASE_GONE: ErrorMeaning = {
  match: 'requested lease not found',
  error: 'lease-gone',
  definite: true,
  meaning: 'The lease has ended, and the keys attached to it were deleted with it.',
  source: 'etcd 3.5, server/lease/lessor.go, ErrLeaseNotFound',
};

export const CONNECTION_LOST: ErrorMeaning = {
  match: 'connection lost',
  error: 'connection-lost',
  definite: false,
  meaning: 'The connection broke, or was given up, with the request in flight.',
  source: 'gRPC status UNAVAILABLE or CANCELLED',
};

/** Matched anywhere in the driver's message, which begins with the status; the first row that fits wins. */
const MATCHED: readonly ErrorMeaning[] = [
  NOT_CONNECTED,
  LEASE_GONE,
  {
    match: 'etcdserver: too many requests',
    error: 'too-many-requests',
    definite: true,
    meaning: 'Too much is committed and not yet applied; refused before it was proposed.',
    source: PROPOSED,
  },
  {
    match: 'etcdserver: request is too large',
    error: 'too-large',
    definite: true,
    meaning: 'Refused before it was proposed.',
    source: PROPOSED,
  },
  {
    match: 'raft proposal dropped',
    error: 'no-leader',
    definite: true,
    meaning: 'The member knew no leader, and the request never entered the log.',
    source: 'etcd 3.5, raft/raft.go, stepFollower and stepCandidate',
  },
  {
    match: 'etcdserver: no leader',
    error: 'no-leader',
    definite: false,
    meaning: 'The member lost its leader; what was forwarded before may have been committed.',
    source: 'etcd 3.5, server/etcdserver/api/v3rpc/interceptor.go',
  },
  {
    match: 'etcdserver: leader changed',
    error: 'leader-changed',
    definite: false,
    meaning: 'The leader changed while the request waited.',
    source: 'etcd 3.5, server/etcdserver/v3_server.go, requestCurrentIndex',
  },
  {
    match: 'etcdserver: request timed out',
    error: 'server-timeout',
    definite: false,
    meaning: 'It was proposed and not applied in time; it may be applied later.',
    source: PROPOSED,
  },
  {
    match: 'etcdserver: server stopped',
    error: 'server-stopped',
    definite: false,
    meaning: 'The member was shutting down with the request in flight.',
    source: PROPOSED,
  },
  {
    match: 'etcdserver: mvcc: database space exceeded',
    error: 'no-space',
    definite: false,
    meaning:
      'The quota is used up. The member that finds out while it applies a request has applied it all the same.',
    source: 'etcd 3.5, server/etcdserver/apply.go, quotaApplierV3.Txn',
  },
  {
    match: 'circuit breaker is open',
    error: 'breaker-open',
    definite: true,
    meaning:
      'After three failures the library tries no server for five seconds; a lease it may have had holds no key.',
    source: 'etcd3 1.1.2, lib/connection-pool.js, defaultCircuitBreaker',
  },
  {
    match: 'DEADLINE_EXCEEDED',
    error: TIMED_OUT.error,
    definite: false,
    meaning: TIMED_OUT.meaning,
    source: 'gRPC status DEADLINE_EXCEEDED',
  },
  { ...CONNECTION_LOST, match: 'UNAVAILABLE' },
  { ...CONNECTION_LOST, match: 'CANCELLED' },
];

/** The whole table. */
export const ETCD_ERRORS: readonly ErrorMeaning[] = [TIMED_OUT, NO_LEASE, ...MATCHED];

/** A row of the table as an outcome. */
export function outcomeOf({ definite, error }: ErrorMeaning): Outcome<never> {
  return { kind: definite ? 'fail' : 'info', error };
}

/** What an error of the driver means: a row of the table, or `info` with what it said. */
export function outcomeOfError(error: unknown): Outcome<never> {
  const message = error instanceof Error ? error.message : String(error);
  const row = MATCHED.find(({ match }) => message.includes(match));
  return row === undefined ? { kind: 'info', error: `reply: ${message.slice(0, 120)}` } : outcomeOf(row);
}
