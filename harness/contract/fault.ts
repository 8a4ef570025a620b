// A fault is a scoped value (chapter 3 of the design): injected, proved to act, healed when its scope ends. Interfaces
// only; one file per kind under `nemesis/`. A fault kind knows nodes, not schedules; the nemesis knows both.

import type { JsonRecord, Millis } from '../history/op.ts';
import type { Node } from './cluster.ts';

/** Which nodes a step hits; resolved when it is injected, and the answer recorded. */
export type TargetSelector =
  /** The process that the trigger event was about, or that was granted a lock last and still holds it. */
  | { readonly kind: 'holder' }
  | { readonly kind: 'random-client' }
  /** A process whose acquire, or release, is on its way; of acquires first one for a lock that nobody holds. */
  | { readonly kind: 'acquirer' }
  /** A process that wants a lock and has not got it: of several one that wants the lock that the trigger is about. */
  | { readonly kind: 'waiter' }
  | { readonly kind: 'releaser' }
  | { readonly kind: 'server' }
  /** So many servers at once, chosen at random. Of five: 3 are a majority, 2 a minority, and 2 the smaller half. */
  | { readonly kind: 'servers'; readonly count: 'all' | 'majority' | 'minority' | 'half' }
  /** The first server that says, when asked, that it has this role: `primary`, `replica`, `leader`. */
  | { readonly kind: 'role'; readonly role: string }
  /** The server that the trigger saw promoted, or the first that says, when asked, that it leads. */
  | { readonly kind: 'lead' }
  /** One of the servers that say, when asked, that they follow. */
  | { readonly kind: 'follower' }
  /** A server that a fault of the network is in force on. */
  | { readonly kind: 'cut-off' }
  /** A server without whose vote the grant that the trigger event tells of would have had no majority. */
  | { readonly kind: 'voter' }
  /** Of the servers that voted for what the trigger event tells of all, or more than half of them, at random. */
  | { readonly kind: 'voters'; readonly count: 'all' | 'majority' }
  /** These, all of them. */
  | { readonly kind: 'nodes'; readonly names: readonly string[] };

/** What is done to the targets and for how long. */
export interface FaultSpec {
  readonly fault: string;
  readonly target: TargetSelector;
  readonly durationMillis: Millis;
  readonly params?: JsonRecord;
}

/**
 * What a rule waits for. `promoted`: a server that followed leads; servers are asked for their roles all the time while
 * such a rule is armed. `voted`: a client learned that exactly `votes` servers voted for it, granted or not; clients
 * tell of votes when an acquire is over and not before.
 */
export type Trigger = 'acquiring' | 'granted' | 'released' | 'renewing' | 'promoted' | 'voted';

/** One step of a schedule. Its times count from the start of the load. */
export type Step =
  | { readonly kind: 'at'; readonly atMillis: Millis; readonly spec: FaultSpec }
  /** Each time the event happens (at most `limit` times, at least `cooldownMillis` apart) after a drawn delay. */
  | {
      readonly kind: 'when';
      readonly event: Trigger;
      /** Of `voted`. */
      readonly votes?: number;
      /** Ignores events before this time. */
      readonly afterMillis: Millis;
      /** And after this one. */
      readonly untilMillis?: Millis;
      readonly delayMillis: { readonly min: Millis; readonly max: Millis };
      readonly limit: number;
      readonly cooldownMillis: Millis;
      readonly spec: FaultSpec;
    };

/** Everything the nemesis will do: a pure function of plan and seed (I6). */
export interface Schedule {
  readonly steps: readonly Step[];
  /** Seeds the delays of `when` rules and the choice of random targets. */
  readonly seed: string;
}

/** A schedule that a plan carries; its seed is the plan's, unless it has its own. */
export type PlannedSchedule = Pick<Schedule, 'steps'> & Partial<Pick<Schedule, 'seed'>>;

/** A fault in force. Disposing heals it, and waits until it is seen to be healed. */
export interface ActiveFault extends AsyncDisposable {
  /** What was seen when it acted; undefined: nothing showed that it did. */
  readonly evidence: JsonRecord | undefined;
  /** What was seen when it was healed. Filled by disposal. */
  readonly healed: JsonRecord | undefined;
}

export interface FaultKind {
  readonly name: string;
  readonly summary: string;
  /** A node suffers at most one fault of each sort at a time. Default: `process`. */
  readonly hurts?: 'process' | 'network' | 'clock' | 'resources';
  /**
   * Acts on the nodes, one at least, and probes them: it acted if it acted on each. Throws HarnessError only if the
   * engine fails; then nothing is left in force.
   */
  inject(nodes: readonly Node[], spec: FaultSpec): Promise<ActiveFault>;
}

/** A kind that does the same to each of its targets, whatever the others are; `onEach` makes a `FaultKind` of it. */
export interface NodeFaultKind extends Omit<FaultKind, 'inject'> {
  inject(node: Node, spec: FaultSpec): Promise<ActiveFault>;
}
