// Everything that is said over the simulated network. Values instead of bytes: what a real protocol would encode is not
// what locks fail of. One union, so that who hears what he does not understand has a kind to tell it by.

import type { RedisReply } from '../backends/redis/port.ts';
import type { Row, Values } from '../postgres/session.ts';
import type { EtcdReply, EtcdRequest, MemberMessage } from './etcd/server.ts';
import type { Command } from './etcd/store.ts';
import type { RaftMessage } from './raft/log.ts';
import type { Change, Entry, RedisError } from './redis/keyspace.ts';
import type { ZooKeeperMessage } from './zookeeper/messages.ts';

/** Asks a server of any kind whether it serves; it says `up`. */
interface Probe {
  readonly kind: 'probe' | 'up';
}

/** Text over a bare TCP connection, as from `askOverTcp`; answered with text, whereupon the server closes. */
interface BareText {
  readonly kind: 'text';
  readonly text: string;
}

/** What a client of Redis sends. */
export interface RedisRequest {
  readonly kind: 'redis command';
  readonly words: readonly string[];
}

/** What it gets, in the order of its requests; an error reply as an error. */
interface RedisResponse {
  readonly kind: 'redis reply';
  readonly reply: RedisReply | RedisError;
}

/** From a replica to its primary. */
export type FromReplica =
  { readonly kind: 'replica asks' } | { readonly kind: 'replica is at'; readonly offset: number };

/** From a primary to its replica. */
export type FromPrimary =
  | {
      readonly kind: 'primary copies';
      readonly entries: readonly (readonly [string, Entry])[];
      readonly offset: number;
    }
  | { readonly kind: 'primary changed'; readonly changes: readonly Change[]; readonly offset: number }
  | { readonly kind: 'primary asks' };

/** A statement of a session with PostgreSQL. */
export interface SqlRequest {
  readonly kind: 'sql';
  readonly name: string;
  readonly values: Values;
}

/** `state`: it was refused. In the order of the statements. */
export type SqlResponse =
  | { readonly kind: 'sql rows'; readonly rows: readonly Row[] }
  | { readonly kind: 'sql error'; readonly state: string };

/** How a session begins; answered when it is ready. */
interface SqlGreeting {
  readonly kind: 'sql startup' | 'sql ready';
  /** A statement waits no longer than this for a lock. */
  readonly lockTimeLimitMillis?: number;
}

/** A request to etcd and its answer, which may come in another order; and what members say to each other. */
type EtcdMessage =
  | { readonly kind: 'etcd request'; readonly id: number; readonly request: EtcdRequest }
  | { readonly kind: 'etcd reply'; readonly id: number; readonly reply: EtcdReply }
  | { readonly kind: 'raft'; readonly message: RaftMessage<Command> }
  | { readonly kind: 'member'; readonly message: MemberMessage };

export type Message =
  | EtcdMessage
  | ZooKeeperMessage
  | Probe
  | BareText
  | SqlRequest
  | SqlResponse
  | SqlGreeting
  | RedisRequest
  | RedisResponse
  | FromReplica
  | FromPrimary;
