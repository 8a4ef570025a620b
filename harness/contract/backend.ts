// A lock service as lockpick sees it: which servers to start, which recipes use it as a lock, and what its errors
// mean. One folder under `backends/` implements it; `backends/index.ts` names them all. Interfaces only.

import type { JsonRecord, Millis } from '../history/op.ts';
import type { Node, NodeSpec } from './cluster.ts';
import type { ErrorMeaning, Recipe } from './lock-client.ts';

export interface Backend {
  readonly name: string;
  /** One line for people: what runs if the plan names no variant. */
  readonly topology: string;
  /** Other settings or versions of its servers that a plan may name. */
  readonly variants?: readonly Variant[];
  /** The lock servers of a cluster, in start order. */
  servers(options: ServerOptions): readonly NodeSpec[];
  /** Makes one service of servers that are ready (replication, membership, tables). Throws HarnessError. */
  assemble?(servers: readonly Node[]): Promise<void>;
  /** Program and version of a ready server, as it says itself: `redis 8.0.2`. Throws HarnessError if it does not say. */
  version(node: Node): Promise<string>;
  /** Where servers have roles. */
  readonly roles?: Roles;
  /** What a server takes for the time of day, in milliseconds since 1970; undefined: it does not answer. */
  readTime?(server: Node): Promise<number | undefined>;
  /** Kinds of faults that cannot hurt its servers, and why: a run that plans one says so. */
  readonly notApplicable?: Readonly<Record<string, string>>;
  readonly recipes: readonly Recipe[];
  readonly errors: readonly ErrorMeaning[];
  /** Within how many milliseconds past the TTL an abandoned lock can be had again, documented or by design. */
  readonly slackMillis: number;
  /** A server whose disk was replaced serves again by itself. */
  readonly startsEmpty?: true;
  /** After a change of leader a lease runs once more in full; so the slack is longer by one TTL. */
  readonly leasesRestart?: true;
  /**
   * How much less than asked for a client can count on, from the invocation of what last extended its lease, as a
   * fraction: drift of clocks, and what a server knew and took with it. Default: that of the history format.
   */
  readonly clockTolerance?: number;
}

/** Within how many milliseconds past the TTL an abandoned lock can be had again, whatever happened to the servers. */
export function slackMillisOf(
  { slackMillis, leasesRestart }: Pick<Backend, 'slackMillis' | 'leasesRestart'>,
  { ttlMillis }: Pick<ServerOptions, 'ttlMillis'>,
): number {
  return slackMillis + (leasesRestart === true ? ttlMillis : 0);
}

/** What runs if the plan names no variant. */
export const DEFAULT_VARIANT = 'default';

export interface Variant {
  readonly name: string;
  /** One line for people: what runs, in the place of `topology`. */
  readonly summary: string;
}

export interface ServerOptions {
  /** The name of one of the backend's variants, or `DEFAULT_VARIANT`. */
  readonly variant: string;
  /** The longest lease that clients will ask for. */
  readonly ttlMillis: Millis;
}

/** Who leads, as the servers themselves say; asked at the moment a fault needs to know. */
export interface Roles {
  /** undefined: it does not answer, or is no member that has a role. */
  ask(node: Node): Promise<ObservedRole | undefined>;
  /**
   * Where the harness does what an operator would: makes `node` the primary and lets the other live servers follow it.
   * Returns what it saw. Throws HarnessError if the node does not obey.
   */
  promote?(node: Node, servers: readonly Node[]): Promise<JsonRecord>;
  /** Makes a server that came back follow whoever leads now. */
  rejoin?(node: Node, servers: readonly Node[]): Promise<void>;
}

/** The words of the services for a server that leads, and for one that follows. */
export const LEADING_ROLES: ReadonlySet<string> = new Set(['primary', 'leader']);
export const FOLLOWING_ROLES: ReadonlySet<string> = new Set(['replica', 'follower']);

export interface ObservedRole {
  /** In the service's own words: `primary`, `replica`, `leader`, `follower`. */
  readonly role: string;
  readonly term?: string;
  /** How far it has followed the lead; comparable among the servers of one cluster. */
  readonly position?: number;
}
