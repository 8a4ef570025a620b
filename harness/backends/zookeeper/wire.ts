// What a session needs of whatever speaks to an ensemble: the library's client (`connection.ts`), or a simulated one. It
// keeps a session open over one connection after the other, by itself, and says when there is one and when the ensemble
// has ended the session. It need not notice that a server has fallen silent. Interfaces only.

import type { Millis } from '../../history/op.ts';
import type { NodeStat } from './port.ts';

/** With the name of a code of ZooKeeper, such as `NO_NODE`. */
export interface ZooKeeperError {
  readonly name: string;
}

/** Called once; perhaps never, for a request that waited for a connection when the session ended. */
export type Answer<T> = (error: ZooKeeperError | null | undefined, value?: T) => void;

export interface ZooKeeperWire {
  /** Sixteen hexadecimal digits; of the session, once it is there. */
  readonly sessionId: string;
  /** What the ensemble has granted, once there is a session. */
  readonly timeoutMillis: number;
  on(event: 'connected' | 'disconnected' | 'expired', listener: () => void): void;
  /** Begins with the first server. */
  connect(): void;
  create(path: string, mode: 'persistent' | 'ephemeral-sequential', answer: Answer<string>): void;
  remove(path: string, answer: Answer<unknown>): void;
  children(path: string, answer: Answer<readonly string[]>): void;
  /** Without a value: there is no such node. */
  exists(path: string, answer: Answer<NodeStat>): void;
  /** Reads the node; where there is one, `changed` is called once when it is gone or another. */
  watch(path: string, changed: () => void, answer: Answer<unknown>): void;
  /** Ends the connection at once; it goes on with the next server. */
  drop(): void;
  /** Asks the server to end the session, if there is a connection, and goes on with no other. */
  goodbye(): void;
}

export interface Server {
  readonly host: string;
  readonly port: number;
}

/** A wire that is not connected yet. `spinMillis`: the longest wait between two rounds through the servers. */
export type OpenWire = (
  servers: readonly Server[],
  options: { readonly timeoutMillis: Millis; readonly spinMillis: number },
) => Promise<ZooKeeperWire>;
