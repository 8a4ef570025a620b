// The protected resource (2.6) as a client uses it: one key, read and written through one defence. Interfaces only.

import type { AuditRow, FencingToken, Millis } from '../history/op.ts';
import type { Outcome } from './lock-client.ts';

export interface StoreRead {
  readonly value: string;
  /** Grows by one with every accepted write of the key. */
  readonly version: string;
}

export interface StoreWrite {
  /** The operation's id and process in the history: they go into the audit table. */
  readonly id: number;
  readonly process: string;
  readonly key: string;
  readonly value: string;
  /** The version `value` was computed from. */
  readonly base: string;
  readonly token?: FencingToken;
}

/** What protects a key against a client that wrongly believes it holds the lock. */
export interface Defence {
  readonly name: string;
  readonly summary: string;
  /** It refuses stale tokens, so only recipes with tokens can use it. */
  readonly needsToken: boolean;
}

/** A single register with its record, without the choice of a defence. */
export interface Register {
  read(request: Parameters<StoreClient['read']>[1]): ReturnType<StoreClient['read']>;
  write(request: StoreWrite): ReturnType<StoreClient['write']>;
  audit(request: Parameters<StoreClient['audit']>[1]): ReturnType<StoreClient['audit']>;
}

/** One process's connection to the store. Every method settles within the time limit and never rejects. */
export interface StoreClient extends AsyncDisposable {
  read(
    defence: string,
    request: { readonly key: string; readonly token?: FencingToken },
  ): Promise<Outcome<StoreRead>>;
  /** `fail` with `stale-token` and the highest token seen, where the defence refuses it. */
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
}

export interface StoreAddress {
  readonly host: string;
  readonly port: number;
  readonly commandTimeLimit: Millis;
}
