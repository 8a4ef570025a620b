// What a simulated etcd member holds once it has applied so many commands of the log: keys with revisions, and which
// leases there are. The same commands give the same state on every member. When a lease is over is not decided here but
// by the leader, who proposes to revoke it. Source: etcd 3.5, server/mvcc and server/lease.

import type {
  KeyValue,
  LeaseId,
  Operation,
  Transaction,
  TransactionReply,
} from '../../backends/etcd/port.ts';

export type Command =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'grant'; readonly lease: LeaseId; readonly ttlSeconds: number }
  | { readonly kind: 'revoke'; readonly lease: LeaseId }
  | { readonly kind: 'transact'; readonly transaction: Transaction };

/** `error`: as etcd words it. */
export type Applied =
  | { readonly kind: 'done' }
  | { readonly kind: 'transacted'; readonly reply: TransactionReply }
  | { readonly kind: 'refused'; readonly error: string };

const LEASE_NOT_FOUND = 'etcdserver: requested lease not found';

interface Entry extends KeyValue {
  readonly lease: LeaseId | undefined;
}

export interface EtcdStore {
  apply(command: Command): Applied;
  /** Lease → its seconds. */
  readonly leases: ReadonlyMap<LeaseId, number>;
  /** Whether the key was deleted at that revision or later. */
  deletedSince(key: string, revision: bigint): boolean;
}

export function openEtcdStore(): EtcdStore {
  const entries = new Map<string, Entry>();
  const leases = new Map<LeaseId, number>();
  /** Key → the revision at which it was deleted last. */
  const deletions = new Map<string, bigint>();
  let revision = 1n;

  const revoke = (lease: LeaseId): Applied => {
    if (!leases.delete(lease)) return { kind: 'refused', error: LEASE_NOT_FOUND };
    const attached = [...entries.values()].filter((entry) => entry.lease === lease);
    if (attached.length > 0) revision += 1n;
    for (const { key } of attached) {
      entries.delete(key);
      deletions.set(key, revision);
    }
    return { kind: 'done' };
  };

  const perform = (operation: Operation): readonly KeyValue[] => {
    switch (operation.kind) {
      case 'put': {
        const { key, value, lease } = operation;
        const old = entries.get(key);
        const version = (old?.version ?? 0n) + 1n;
        entries.set(key, { key, value, lease, createRevision: old?.createRevision ?? revision, version });
        return [];
      }
      case 'get': {
        const entry = entries.get(operation.key);
        return entry === undefined ? [] : [entry];
      }
      case 'list':
        return within(operation.prefix).toSorted((a, b) => (a.key < b.key ? -1 : 1));
      case 'before':
        return within(operation.prefix)
          .filter(({ createRevision }) => createRevision < operation.createRevision)
          .toSorted((a, b) => Number(b.createRevision - a.createRevision))
          .slice(0, operation.limit);
    }
  };
  const within = (prefix: string): readonly Entry[] =>
    [...entries.values()].filter(({ key }) => key.startsWith(prefix));

  const transact = ({ when, success, failure = [] }: Transaction): Applied => {
    const succeeded = (entries.get(when.key)?.createRevision ?? 0n) === when.createRevision;
    const operations = succeeded ? success : failure;
    // Refused as a whole, before any of it is done.
    for (const operation of operations)
      if (operation.kind === 'put' && operation.lease !== undefined && !leases.has(operation.lease))
        return { kind: 'refused', error: LEASE_NOT_FOUND };
    if (operations.some(({ kind }) => kind === 'put')) revision += 1n;
    const found = operations.map(perform);
    return { kind: 'transacted', reply: { succeeded, revision, found } };
  };

  return {
    leases,
    deletedSince: (key, since) => (deletions.get(key) ?? -1n) >= since,
    apply(command) {
      switch (command.kind) {
        case 'nothing':
          return { kind: 'done' };
        case 'grant':
          leases.set(command.lease, command.ttlSeconds);
          return { kind: 'done' };
        case 'revoke':
          return revoke(command.lease);
        case 'transact':
          return transact(command.transaction);
      }
    },
  };
}
