// The story of one run: start → connect → run clients beside the nemesis → heal → try every lock again → final reads →
// collect logs → close. It records and never judges (`judge.ts` does). What happens is in the plan; with what, in the
// `RunParts` that a stage hands in (`stages/`), so nothing here knows Docker, Redis or a simulation.

import { monotonicClock, monotonicOrigin, wallTime, type Clock } from './clock.ts';
import { slackMillisOf, type Backend } from './contract/backend.ts';
import type { Cluster, Node, NodeSpec } from './contract/cluster.ts';
import { HarnessError } from './contract/errors.ts';
import type { FaultKind, Schedule } from './contract/fault.ts';
import { Journal } from './history/journal.ts';
import { millis, type HarnessEvent, type Header, type HistoryEvent, type Millis } from './history/op.ts';
import { LockProcesses } from './processes/lock-processes.ts';
import { Nemesis } from './nemesis/nemesis.ts';
import { clientNames, type Plan } from './plan/plan.ts';
import type { RunDirectory } from './stored/results.ts';

export interface RunParts {
  readonly backend: Backend;
  readonly schedule: Schedule;
  readonly faultKinds: (site: FaultSite) => readonly FaultKind[];
  readonly store: NodeSpec;
  readonly prepareStore: (node: Node) => Promise<void>;
  readonly defences: readonly string[];
  /** A client container's specification, program included. */
  readonly clientSpec: (name: string) => NodeSpec;
  readonly startCluster: (specs: readonly NodeSpec[], signal: AbortSignal) => Promise<Cluster>;
  readonly header: (seen: Seen) => Header;
  /** Watches the harness itself, until it is disposed. */
  readonly watch: (clock: Clock, append: (event: HarnessEvent) => void) => Disposable;
}

/** What only the running cluster can tell. */
export interface Seen {
  readonly clockErrorNanos: number;
  /** When the run's clock began, as text: what gives lines of server logs their place. */
  readonly zeroWallTime: string;
  /** Server → program and version, as it says itself. */
  readonly serverVersions: Readonly<Record<string, string>>;
}

/** What faults need to know of the run that they happen in. */
export interface FaultSite {
  readonly servers: readonly Node[];
  readonly clients: readonly Node[];
  readonly store: Node;
  /** Starts an exited client again with a new process that joins in. */
  readonly restartClient: (node: Node) => Promise<void>;
  /** What a client's process takes for the time of day, in milliseconds since 1970; undefined: it does not answer. */
  readonly readClientTime: (node: Node) => Promise<number | undefined>;
}

/** The final phase tries a lock for TTL + the backend's slack + this; a liveness claim needs tries after both. */
const FINAL_MARGIN_MILLIS = 2_000;

export type RunPhase = 'starting' | 'connecting' | 'running' | 'healing' | 'final reads' | 'closing';

export interface RunObserver {
  phase(phase: RunPhase): void;
  event(event: HistoryEvent): void;
}

export interface Interrupt {
  /** Stop the load, heal, read what can be read. */
  readonly wrapUp: AbortSignal;
  /** Heal and remove only. */
  readonly abandon: AbortSignal;
}

/** Runs the plan into `directory`. Throws HarnessError if our surroundings fail; then the history is not judged. */
export async function run(
  plan: Plan,
  parts: RunParts,
  directory: RunDirectory,
  observer: RunObserver,
  interrupt: Interrupt,
): Promise<void> {
  const names = clientNames(plan);
  const servers = parts.backend.servers(plan);

  observer.phase('starting');
  await using cluster = await parts.startCluster(
    [...servers, parts.store, ...names.map(parts.clientSpec)],
    AbortSignal.any([interrupt.wrapUp, interrupt.abandon]),
  );
  // Whatever happens from here on, what the nodes printed is kept.
  await using _logs = { [Symbol.asyncDispose]: () => cluster.collectLogs(directory.logs) };
  const origin = monotonicOrigin();
  const zeroWallTime = wallTime().toISOString();
  const clock = monotonicClock(origin);

  observer.phase('connecting');
  const store = cluster.node(parts.store.name);
  const serverNodes = servers.map(({ name }) => cluster.node(name));
  await Promise.all([parts.prepareStore(store), parts.backend.assemble?.(serverNodes)]);
  const nodes = names.map((name) => cluster.node(name));
  const clients = new LockProcesses({
    plan,
    cluster,
    clock,
    origin,
    servers: serverNodes.map((node) => endpoint(node)),
    store: endpoint(store),
    defences: parts.defences,
  });
  const [clockErrorNanos, versions] = await Promise.all([
    clients.connect(nodes),
    Promise.all(serverNodes.map(async (node) => [node.name, await parts.backend.version(node)] as const)),
  ]);
  const serverVersions = Object.fromEntries(versions);
  using journal = new Journal(
    directory.history,
    parts.header({ clockErrorNanos, zeroWallTime, serverVersions }),
  );
  using _recording = clients.recordInto(journal);
  journal.onEvent((event) => observer.event(event));
  using _watch = parts.watch(clock, (event) => journal.append(event));

  const { roles } = parts.backend;
  const faultKinds = parts.faultKinds({
    servers: serverNodes,
    clients: nodes,
    store,
    restartClient: (node) => clients.replace(node),
    readClientTime: (node) => clients.readTime(node),
  });
  {
    await using nemesis = new Nemesis({
      schedule: parts.schedule,
      kinds: new Map(faultKinds.map((kind) => [kind.name, kind])),
      clock,
      servers: serverNodes,
      ...(roles !== undefined && { askRole: (node: Node) => roles.ask(node) }),
      clients: nodes,
      nodeOf: (process) => clients.nodeOf(process),
      append: (event) => journal.append(event),
    });
    journal.onEvent((event) => nemesis.observe(event));
    observer.phase('running');
    clients.start();
    nemesis.start();
    const failures = [journal.failed, clients.failed, nemesis.failed, interrupt.abandon];
    await untilOver(clock, plan.timeLimitMillis, interrupt.wrapUp, failures);
    observer.phase('healing');
    await nemesis.heal();
  }
  interrupt.abandon.throwIfAborted();
  await clients.stop();
  interrupt.abandon.throwIfAborted();

  observer.phase('final reads');
  const patience = millis(plan.ttlMillis + slackMillisOf(parts.backend, plan) + FINAL_MARGIN_MILLIS);
  if (!interrupt.wrapUp.aborted) await clients.tryEachLock(patience);
  await clients.readStore();

  observer.phase('closing');
  await clients.quit();
  journal.failed.throwIfAborted();
}

/** Until the time is up or the user wants it to end; throws the reason of the first failure. */
async function untilOver(
  clock: Clock,
  timeLimit: Millis,
  wrapUp: AbortSignal,
  failures: readonly AbortSignal[],
): Promise<void> {
  const over = AbortSignal.any([wrapUp, ...failures]);
  try {
    await clock.sleep(timeLimit, over);
  } catch (error) {
    if (!over.aborted) throw error;
  }
  for (const failure of failures) failure.throwIfAborted();
}

function endpoint(node: Node): { name: string; host: string; port: number } {
  if (node.spec.port === undefined)
    throw new HarnessError('internal', `node ${node.name} has no port for clients to connect to`);
  return { name: node.name, host: node.address, port: node.spec.port };
}
