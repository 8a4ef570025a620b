// What a ZooKeeper recipe may ask of an ensemble: nodes under a session, and to be told when a node is gone or the
// session has ended. The real port is `connection.ts`; a simulated ensemble can stand behind the same interface, so a
// recipe is written once (1.4). It must not know recipes or locks.

import type { Clock } from '../../clock.ts';
import type { LockClient, Outcome, Recipe, RecipeContext } from '../../contract/lock-client.ts';
import type { Millis, Nanos } from '../../history/op.ts';

export interface NodeStat {
  /** The transaction that created the node: grows from one creation to the next, in the whole ensemble. */
  readonly createdBy: bigint;
  /** The session that an ephemeral node belongs to. */
  readonly owner: string;
}

/**
 * `expired`: the ensemble said so. `deadline`: nothing was heard for the session's time-out; the ensemble may keep it a
 * little longer, but this client does not.
 */
export type SessionEnd = 'expired' | 'deadline' | 'closed';

/**
 * One session. Every method settles within the time limit and never rejects. `fail`: refused, or never sent. `info`: it
 * may have happened or may yet; the connection has been given up by then, and the session goes on with another server.
 */
export interface ZooKeeperSession {
  readonly id: string;
  /** Until when the session may be relied upon: its time-out, counted from before the last request that was answered. */
  readonly deadline: Nanos;
  readonly ended: Promise<SessionEnd>;
  /** Has not ended. */
  readonly live: boolean;
  /** The path, to which the ensemble has appended a growing number if that was asked for. */
  create(path: string, mode: 'persistent' | 'ephemeral-sequential'): Promise<Outcome<string>>;
  children(path: string): Promise<Outcome<readonly string[]>>;
  /** undefined: there is no such node. */
  stat(path: string): Promise<Outcome<NodeStat | undefined>>;
  remove(path: string): Promise<Outcome<{ readonly existed: boolean }>>;
  /** What is read after it is not older than anything that was written before. */
  sync(): Promise<Outcome<unknown>>;
  /** Settles when the node is gone, or may be: it changed, the connection broke, or the time is up. */
  gone(path: string, timeLimit: Millis): Promise<void>;
}

export interface ZooKeeperPort extends AsyncDisposable {
  /** The session in use; one with this time-out is opened if there is none. */
  session(timeoutMillis: Millis): Promise<Outcome<ZooKeeperSession>>;
}

/** A recipe over an ensemble, whatever stands behind the port. Whoever opened the port closes it. */
export interface ZooKeeperRecipe extends Omit<Recipe, 'open'> {
  lockClient(
    zooKeeper: ZooKeeperPort,
    clock: Clock,
    onLost: RecipeContext['onLost'],
  ): Omit<LockClient, keyof AsyncDisposable>;
}
