// What a cluster of nodes can do, whoever runs it (Docker today, a simulation later). Interfaces only.
// A `Cluster` value is a ready cluster: `startCluster` returns it after every node answered its ready probe.

import type { HistoryEvent, Millis } from '../history/op.ts';

export type NodeRole = 'server' | 'store' | 'client';

/** Which program a node runs; `image` is the name of one of ours (`redis`, `postgres`, `client`) or a reference. */
export interface NodeSpec {
  /** Unique in the cluster, at least two characters; also its host name: `r1`, `store`, `c3`. */
  readonly name: string;
  readonly role: NodeRole;
  readonly image: string;
  /** Replaces the image's entry point. */
  readonly entrypoint?: readonly string[];
  /** Replaces the image's command. */
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Files put into the container before it starts; they survive kill and start. `writable`: by whoever runs there. */
  readonly files?: readonly {
    readonly path: string;
    readonly content: string | Uint8Array;
    readonly writable?: boolean;
  }[];
  /** Where it keeps what it must not lose, if that may be a folder of limited size. */
  readonly dataFolder?: string;
  /**
   * Folders in memory, of limited size, that it has in common with its sandbox. Kill and start keep them; `reset`
   * empties those that are part of its disk.
   */
  readonly sharedFolders?: readonly {
    readonly path: string;
    readonly bytes: number;
    readonly holds: 'disk' | 'controls';
  }[];
  /** After it has ended whoever runs it leaves it down for this long. */
  readonly restartDelayMillis?: Millis;
  /** How to ask it whether it serves. Absent: running is enough. */
  readonly ready?: Probe;
  /** The TCP port it serves on, for probes that knock from its own network namespace. */
  readonly port?: number;
  /** Its standard streams carry JSON lines; see `Node.connect`. */
  readonly stream?: boolean;
}

/** A question put to a node from inside its own network namespace. */
export type Probe =
  /** Sends `send` to the node's port, expects `expect` at the start of what comes back within the time limit. */
  | { readonly kind: 'tcp'; readonly send: string; readonly expect: string }
  /** Runs a command inside the node's container, expects exit code 0. */
  | { readonly kind: 'exec'; readonly command: readonly string[] };

/**
 * `answers`; `silent`: connected, or not even refused, but nothing came in time; `refused`: nobody listens;
 * `declines`: it answered, but not what was expected (still loading, not a member yet).
 */
export type ProbeAnswer = 'answers' | 'silent' | 'refused' | 'declines';

export type NodeState =
  | { readonly kind: 'running'; readonly pid: number }
  /** Stopped by a signal: every thread of the process and of its children is in state `T`. */
  | { readonly kind: 'stopped'; readonly pid: number }
  /** Held by `freeze`. */
  | { readonly kind: 'frozen'; readonly pid: number }
  | { readonly kind: 'exited'; readonly exitCode: number };

export interface ExecResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How often a node was denied processor time, since it was started. */
export interface Throttling {
  readonly throttledPeriods: number;
  readonly throttledMillis: number;
}

/** A node's standard streams, one text line each way. Lives until the process ends. */
export interface NodeStream {
  /** Without effect once the stream has ended. */
  send(line: string): void;
  /** Called for each line of stdout, in order. */
  onLine(listener: (line: string) => void): void;
  /** Only where the process is part of this one: called for what it recorded, in the place of the line that says it. */
  onEvent?(listener: (event: HistoryEvent) => void): void;
  /** Settles when the stream has ended (the process died or the engine went away). */
  readonly closed: Promise<void>;
}

export interface Node {
  readonly spec: NodeSpec;
  readonly name: string;
  /** Its fixed IPv4 address; kill and start keep it. */
  readonly address: string;
  /**
   * Sends a signal to the node's first process; resolves when the engine has delivered it (on a busy machine the threads
   * stop a moment later: ask `state`), after SIGKILL when the process has ended. Without effect on a node that has
   * exited. Some engines thaw a frozen node on any signal.
   */
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Holds every process in the container at once, without a signal. Without effect on a node that has exited. */
  freeze(): Promise<void>;
  /** Ends `freeze`. Without effect on a node that is not frozen. */
  thaw(): Promise<void>;
  /** Grants it that part of one processor, and no more; undefined: as much as there is. Kill and start keep it. */
  limitProcessor(share: number | undefined): Promise<void>;
  /** Asks the engine. Throws HarnessError('environment') for a node that has exited. */
  throttling(): Promise<Throttling>;
  /** Starts it again after it exited: same address, same files, same disk; does not wait for readiness. */
  start(): Promise<void>;
  /**
   * Gives an exited node a new container: same address, same name, its files as at first, and nothing on its disk. Not
   * for a node with `stream: true`.
   */
  reset(): Promise<void>;
  /** Asks the engine (not the node) what its process is doing. */
  state(): Promise<NodeState>;
  /**
   * Puts the ready probe (or, without one, a bare connect to its port) once. Never throws for what the node does wrong.
   * Throws HarnessError('internal') if the node has neither.
   */
  probe(timeLimit: Millis): Promise<ProbeAnswer>;
  /**
   * Waits until the ready probe is answered; without one, until the node runs. Throws HarnessError('environment') with
   * its last log lines when it exits first or the time is up, and the signal's reason when that is aborted.
   */
  ready(timeLimit: Millis, signal?: AbortSignal): Promise<void>;
  /** Runs a command in the node's container. Throws HarnessError('environment') past the time limit. */
  exec(command: readonly string[], timeLimit: Millis): Promise<ExecResult>;
  /** Runs a command in the sandbox that owns the node's network namespace (has iptables, NET_ADMIN). */
  execInSandbox(command: readonly string[], timeLimit: Millis): Promise<ExecResult>;
  /**
   * The standard streams of a node with `stream: true`: those of its process, or, when it has exited, those of the one
   * that `start` will start. Lines are kept until the first listener is there.
   */
  connect(): Promise<NodeStream>;
  /** Everything it printed so far (stdout and stderr; only stderr of a node with `stream: true`). */
  logs(): Promise<string>;
}

export interface Cluster extends AsyncDisposable {
  readonly session: string;
  readonly nodes: ReadonlyMap<string, Node>;
  /** The node of that name. Throws HarnessError('internal') if there is none. */
  node(name: string): Node;
  /** Image name → reference and digest, as used. */
  readonly images: Readonly<Record<string, { readonly reference: string; readonly digest: string }>>;
  /** Writes `<directory>/<node>.log` for every node. */
  collectLogs(directory: string): Promise<void>;
  /** Removes every container and the network; safe to call twice; tries everything, then throws the first error. */
  [Symbol.asyncDispose](): Promise<void>;
}
