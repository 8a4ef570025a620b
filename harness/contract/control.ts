// What coordinator and client process say to each other, one JSON value a line, over the container's standard streams
// (never over the network that is being partitioned, 1.3). Lines with `t` are control; lines with `type` are history
// events in the journal's own form, which the client has written before the request they announce leaves (I1).

import type { Millis } from '../history/op.ts';
import type { HarnessErrorCode } from './errors.ts';

/** Everything a client process needs to know; the same for every process but `process`, `seed` and `firstId`. */
export interface ClientConfig {
  readonly process: string;
  readonly backend: string;
  readonly recipe: string;
  readonly workload: string;
  readonly servers: readonly { readonly name: string; readonly host: string; readonly port: number }[];
  readonly store: { readonly host: string; readonly port: number };
  /** Those that the recipe can use: without tokens, none that needs one. */
  readonly defences: readonly string[];
  readonly locks: readonly string[];
  /** Of a semaphore; absent: as many as its recipe has. */
  readonly permits?: number;
  /** Part of the writes during which the process loses its connection to the store. */
  readonly cutWrites: number;
  /** Of this process: `rng(seed)` drives all its choices (I6). */
  readonly seed: string;
  /** Operation ids are firstId, firstId + idStep, …: unique over all processes of the run. */
  readonly firstId: number;
  readonly idStep: number;
  readonly ttlMillis: Millis;
  /** Past this an operation on lock service or store is `info`. */
  readonly commandTimeLimitMillis: Millis;
  /** Work inside the critical section, and outside between two sessions. */
  readonly thinkMillis: { readonly min: Millis; readonly max: Millis };
  readonly idleMillis: { readonly min: Millis; readonly max: Millis };
  /** Wait between two tries of a polling recipe. */
  readonly pollMillis: { readonly min: Millis; readonly max: Millis };
  /** A session gives up acquiring after this long. */
  readonly patienceMillis: Millis;
}

export type ToClient =
  /** Answered at once with `hello`, at any time; `origin`: CLOCK_MONOTONIC at run start, decimal nanoseconds. */
  | { readonly t: 'hello'; readonly origin: string; readonly round: number }
  /** Connects to lock service and store; answered with `ready`, or `failed`. */
  | { readonly t: 'setup'; readonly config: ClientConfig }
  /** Runs sessions until `stop`. */
  | { readonly t: 'start' }
  /** Ends the current session at its next step; answered with `stopped`. */
  | { readonly t: 'stop' }
  /** After healing: tries to acquire and release each lock until granted or time is up; answered with `tried`. */
  | { readonly t: 'try-each'; readonly locks: readonly string[]; readonly timeLimitMillis: Millis }
  /** Final reads of every key of every defence, with the audit rows; answered with `read`. */
  | { readonly t: 'read-all' }
  /** Closes its connections and exits with 0. */
  | { readonly t: 'quit' };

export type FromClient =
  /** `wallMillis`: what it takes for the time of day, in milliseconds since 1970. */
  | { readonly t: 'hello'; readonly round: number; readonly time: number; readonly wallMillis: number }
  | { readonly t: 'ready' | 'stopped' | 'tried' | 'read' }
  /** It cannot go on: a user's adapter is wrong (exit 64), the store is gone (69), or our own bug (70). */
  | { readonly t: 'failed'; readonly code: HarnessErrorCode; readonly error: string };

/** undefined: the line is no control line but an event of the history. Throws SyntaxError if it is broken. */
export function decodeFromClient(line: string): FromClient | undefined {
  return line.startsWith('{"t":') ? (JSON.parse(line) as FromClient) : undefined;
}

const COMMANDS: ReadonlySet<unknown> = new Set<ToClient['t']>([
  'hello',
  'setup',
  'start',
  'stop',
  'try-each',
  'read-all',
  'quit',
]);

/**
 * Throws SyntaxError if the line is no command. Looks at its kind only: both ends are of one build, since the coordinator
 * bundles the client from its own sources, and a plan's values were checked by `parsePlan`.
 */
export function decodeToClient(line: string): ToClient {
  const value: unknown = JSON.parse(line);
  if (typeof value === 'object' && value !== null && 't' in value && COMMANDS.has(value.t))
    return value as ToClient;
  throw new SyntaxError(`not a command: ${line.slice(0, 200)}`);
}
