// What an etcd recipe may ask of a cluster: leases, transactions, and to be told when a key is gone. The real port is
// `connection.ts`; a simulated cluster stands behind the same interface, so a recipe is written once (1.4). It must not
// know recipes or locks.

import type { Clock } from '../../clock.ts';
import type { LockClient, Outcome, Recipe, RecipeContext } from '../../contract/lock-client.ts';
import type { Millis } from '../../history/op.ts';

/** Decimal text: a 64-bit number that is only handed on. */
export type LeaseId = string;

export interface KeyValue {
  readonly key: string;
  readonly value: string;
  readonly createRevision: bigint;
  /** 1 when created, grows by one with every put. */
  readonly version: bigint;
}

export type Operation =
  | { readonly kind: 'put'; readonly key: string; readonly value: string; readonly lease?: LeaseId }
  | { readonly kind: 'get'; readonly key: string }
  /** All keys that begin with it, in key order. */
  | { readonly kind: 'list'; readonly prefix: string }
  /** The youngest keys that begin with `prefix` and were created before the revision, `limit` of them at most. */
  | {
      readonly kind: 'before';
      readonly prefix: string;
      readonly createRevision: bigint;
      readonly limit: number;
    };

/** Applied as one: `success` if the key's create revision is the one named (0: there is no such key), else `failure`. */
export interface Transaction {
  readonly when: { readonly key: string; readonly createRevision: bigint };
  readonly success: readonly Operation[];
  readonly failure?: readonly Operation[];
}

export interface TransactionReply {
  readonly succeeded: boolean;
  /** Of the store after it. */
  readonly revision: bigint;
  /** What each operation found; nothing for a put. */
  readonly found: readonly (readonly KeyValue[])[];
}

/**
 * Every method settles within the time limit and never rejects. `fail`: refused, or never sent. `info`: it may have
 * happened or may yet; the connection has been given up by then, and the next request goes to the next server.
 */
export interface EtcdPort extends AsyncDisposable {
  grantLease(ttlSeconds: number): Promise<Outcome<{ readonly lease: LeaseId; readonly ttlSeconds: number }>>;
  /** Restarts the lease; 0 seconds: it is gone. */
  keepAlive(lease: LeaseId): Promise<Outcome<{ readonly ttlSeconds: number }>>;
  /** Ends the lease and deletes the keys attached to it, as one. */
  revoke(lease: LeaseId): Promise<Outcome<{ readonly existed: boolean }>>;
  transact(transaction: Transaction): Promise<Outcome<TransactionReply>>;
  /** Waits until the key was deleted at the revision or later; false: not so far, or the watch broke. */
  deleted(key: string, revision: bigint, timeLimit: Millis): Promise<boolean>;
}

/** A recipe over an etcd cluster, whatever stands behind the port. Whoever opened the port closes it. */
export interface EtcdRecipe extends Omit<Recipe, 'open'> {
  lockClient(
    etcd: EtcdPort,
    clock: Clock,
    onLost: RecipeContext['onLost'],
  ): Omit<LockClient, keyof AsyncDisposable>;
}
