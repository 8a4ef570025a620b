// The protected resource (2.6) as a client uses it: one key, read and written through one defence. Interfaces only.

import type { AuditRow, FencingToken, Millis } from '../history/op.ts';
import type { Outcome } from './lock-client.ts';

export interface StoreRead {
  readonly value: string;
  /** Grows by one with every accepted write of the key. */
  readonly version: string;
  /** Where the request named an order: it has been applied. */
  readonly applied?: boolean;
}

export interface StoreReadRequest {
  readonly key: string;
  readonly token?: FencingToken;
  readonly order?: string;
}

export interface StoreWrite {
  /** The operation's id and process in the history: they go into the audit table. */
  readonly id: number;
  readonly process: string;
  readonly key: string;
  readonly value: string;
  /** The version `value` was computed from. */
  readonly base: string;
  /** The same write, put relatively: what a relative defence adds to what is there by then. */
  readonly add?: string;
  /** What the write is done for; however often it is sent, it should be applied once. */
  readonly order?: string;
  readonly token?: FencingToken;
}

/** What protects a key against a client that wrongly believes it holds the lock. */
export interface Defence {
  readonly name: string;
  readonly summary: string;
  /** It refuses stale tokens, so only recipes with tokens can use it. */
  readonly needsToken: boolean;
  /** It takes no new value from its writers but what to add, so only writes that have an `add` can use it. */
  readonly relative?: true;
}

/** A single register with its record, without the choice of a defence. */
export interface Register {
  read(request: StoreReadRequest): ReturnType<StoreClient['read']>;
  write(request: StoreWrite): ReturnType<StoreClient['write']>;
  audit(request: Parameters<StoreClient['audit']>[1]): ReturnType<StoreClient['audit']>;
}

/** One process's connection to the store. Every method settles within the time limit and never rejects. */
export interface StoreClient extends AsyncDisposable {
  read(defence: string, request: StoreReadRequest): Promise<Outcome<StoreRead>>;
  /** `fail` with the defence's own word where it refuses, and the highest token seen where it goes by tokens. */
  write(
    defence: string,
    request: StoreWrite,
  ): Promise<
    | { readonly kind: 'ok'; readonly value: { readonly version: string } }
    | { readonly kind: 'fail'; readonly error: string; readonly highest?: FencingToken }
    | { readonly kind: 'info'; readonly error: string }
  >;
  /** At most `limit` rows of the record of a key's write attempts, in the store's order, after position `after`. */
  audit(
    defence: string,
    request: { readonly key: string; readonly after: string; readonly limit: number },
  ): Promise<Outcome<readonly AuditRow[]>>;
  /** Loses its connections: whatever is on its way over them is of unknown outcome. The next request opens new ones. */
  cut(): void;
  /** The critical section on `key` is over: gives back what a defence still keeps for it. */
  leave(key: string): Promise<void>;
  /**
   * After the run: ends every other session with the store and everything that waits in it, so that no write that was
   * sent before can take effect any more. What a rule makes of an unanswered write stands on this.
   */
  seal(): Promise<Outcome<unknown>>;
}

export interface StoreAddress {
  readonly host: string;
  readonly port: number;
  readonly commandTimeLimit: Millis;
}
