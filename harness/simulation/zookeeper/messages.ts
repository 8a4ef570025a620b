// What is said by, and to, simulated ZooKeeper servers: by clients, by followers that have opened a connection to their
// leader, and by the log that they share.

import type { NodeStat } from '../../backends/zookeeper/port.ts';
import type { RaftMessage } from '../raft/log.ts';
import type { CreateMode, TreeCommand, Written } from './tree.ts';

/** `session` and `zxid` are empty and 0 for a new session. */
interface SessionRequest {
  readonly kind: 'zk connect';
  readonly session: string;
  readonly timeoutMillis: number;
  /** The last transaction that the client has seen. */
  readonly zxid: bigint;
}

export type TreeRequest =
  | { readonly kind: 'create'; readonly path: string; readonly mode: CreateMode }
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'stat'; readonly path: string }
  | { readonly kind: 'children'; readonly path: string }
  /** Reads it, and leaves a watch behind where there is one. */
  | { readonly kind: 'watch'; readonly path: string }
  | { readonly kind: 'goodbye' };

export type TreeReply =
  | Written
  | { readonly kind: 'stat'; readonly stat: NodeStat }
  | { readonly kind: 'children'; readonly children: readonly string[] };

type ClientMessage =
  | SessionRequest
  /** `timeoutMillis` 0: that session is over. */
  | { readonly kind: 'zk connected'; readonly session: string; readonly timeoutMillis: number }
  | { readonly kind: 'zk request'; readonly request: TreeRequest }
  /** In the order of the requests of a connection. */
  | { readonly kind: 'zk reply'; readonly zxid: bigint; readonly reply: TreeReply }
  | { readonly kind: 'zk deleted'; readonly path: string };

/** From a follower to its leader. */
export type FromFollower =
  | { readonly kind: 'zk follows' }
  | { readonly kind: 'zk forward'; readonly id: string; readonly command: TreeCommand }
  | { readonly kind: 'zk take over'; readonly session: string }
  /** Whom it has heard since the last time. */
  | { readonly kind: 'zk heard'; readonly sessions: readonly string[] };

/** From a leader to its follower. */
export type FromLeader =
  | { readonly kind: 'zk ping' }
  | { readonly kind: 'zk taken over'; readonly session: string; readonly isAlive: boolean };

export type ZooKeeperMessage =
  | ClientMessage
  | FromFollower
  | FromLeader
  | { readonly kind: 'zk log'; readonly message: RaftMessage<TreeCommand> };
