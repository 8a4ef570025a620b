// All client processes of a run: connects them, starts and stops them together, replaces the killed ones by new
// processes (`c3` → `c3.2`), records their events and their ends. `run.ts` tells it when; it knows no faults but `kill`,
// whose begin bounds the time of death.

import type { Clock } from '../clock.ts';
import type { Cluster, Node } from '../contract/cluster.ts';
import type { ClientConfig } from '../contract/control.ts';
import { HarnessError } from '../contract/errors.ts';
import type { Journal } from '../history/journal.ts';
import { millis, type HistoryEvent, type Millis, type Nanos } from '../history/op.ts';
import { LockProcess } from './lock-process.ts';
import { PROCESSES_MAX, type Plan } from '../plan/plan.ts';

export interface LockProcessesOptions {
  readonly plan: Plan;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly origin: bigint;
  readonly servers: ClientConfig['servers'];
  readonly store: ClientConfig['store'];
  readonly defences: readonly string[];
}

const CONNECT_TIME_LIMIT = millis(15_000);
const QUIT_TIME_LIMIT = millis(3_000);
const READ_TIME_LIMIT = millis(1_000);
/** Kinds of faults that a client does not survive. */
const ENDS_PROCESS: ReadonlySet<string> = new Set(['kill', 'power-loss']);

export class LockProcesses {
  readonly #options: LockProcessesOptions;
  /** Node name → the process that runs in it now. */
  readonly #current = new Map<string, LockProcess>();
  readonly #generation = new Map<string, number>();
  readonly #killBegan = new Map<string, Nanos>();
  readonly #failed = new AbortController();
  #launched = 0;
  #started = false;
  #journal: Journal | undefined;

  constructor(options: LockProcessesOptions) {
    this.#options = options;
  }

  /** Aborted, with the error as its reason, when a client failed or died without having been killed by us. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  /** Greets and sets up the processes of started nodes. Returns the largest clock error among them, 0 if shared. */
  async connect(nodes: readonly Node[]): Promise<number> {
    const processes = await Promise.all(nodes.map((node) => this.#launch(node)));
    return Math.max(...processes.map(({ clockReading }) => clockReading.errorNanos));
  }

  /** From now on events go to the journal; disposing ends that, so that no late line meets a closed journal. */
  recordInto(journal: Journal): Disposable {
    this.#journal = journal;
    journal.onEvent((event) => {
      if (event.type === 'fault' && event.phase === 'begin' && ENDS_PROCESS.has(event.fault))
        for (const target of event.targets) this.#killBegan.set(target, event.time);
    });
    return {
      [Symbol.dispose]: () => {
        this.#journal = undefined;
      },
    };
  }

  start(): void {
    this.#started = true;
    for (const process of this.#current.values()) process.start();
  }

  /** After its container was killed: starts it again with a new process, which joins the load if that is running. */
  async replace(node: Node): Promise<void> {
    const stream = await node.connect();
    await node.start();
    const process = await this.#launch(node, stream);
    if (this.#started) process.start();
  }

  /** What the process on the node takes for the time of day; see `LockProcess.readTime`. */
  async readTime(node: Node): Promise<number | undefined> {
    const process = this.#current.get(node.name);
    return process?.ended === false ? process.readTime(READ_TIME_LIMIT) : undefined;
  }

  nodeOf(name: string): Node | undefined {
    const process = [...this.#current.values()].find((candidate) => candidate.name === name);
    return process?.ended === false ? process.node : undefined;
  }

  async stop(): Promise<void> {
    this.#started = false;
    const { commandTimeLimitMillis, thinkMillis } = this.#options.plan;
    const session = millis(20 * commandTimeLimitMillis + 2 * thinkMillis.max + 5_000);
    await Promise.all(this.#alive().map((process) => process.stop(session)));
  }

  /** One process tries every lock. */
  async tryEachLock(timeLimit: Millis): Promise<void> {
    await this.#first().tryEach(lockNames(this.#options.plan), timeLimit);
  }

  /** One process reads every key of every defence, audit rows included. */
  async readStore(): Promise<void> {
    await this.#first().readAll(millis(60_000));
  }

  async quit(): Promise<void> {
    await Promise.all(this.#alive().map((process) => process.quit(QUIT_TIME_LIMIT)));
  }

  #alive(): LockProcess[] {
    return [...this.#current.values()].filter((process) => !process.ended);
  }

  #first(): LockProcess {
    const [first] = this.#alive();
    if (first === undefined)
      throw new HarnessError('internal', 'no client process is left for the final phase');
    return first;
  }

  async #launch(node: Node, opened?: Awaited<ReturnType<Node['connect']>>): Promise<LockProcess> {
    const { plan, clock, origin, servers, store, defences } = this.#options;
    const generation = (this.#generation.get(node.name) ?? 0) + 1;
    this.#generation.set(node.name, generation);
    const name = generation === 1 ? node.name : `${node.name}.${generation}`;
    this.#launched += 1;
    if (this.#launched >= PROCESSES_MAX)
      throw new HarnessError('internal', `more than ${PROCESSES_MAX - 1} client processes in one run`);
    const firstId = this.#launched;
    const process = await LockProcess.greet(
      {
        name,
        node,
        clock,
        origin,
        onEvent: (event) => this.#journal?.append(event),
        onEnd: (ended, lastSeen, said) => this.#ended(ended, lastSeen, said),
      },
      opened ?? (await node.connect()),
    );
    await process.setup(
      {
        process: name,
        backend: plan.backend,
        recipe: plan.recipe,
        workload: plan.workload,
        servers,
        store,
        defences,
        locks: lockNames(plan),
        ...(plan.permits !== undefined && { permits: plan.permits }),
        cutWrites: plan.cutWrites,
        seed: `${plan.seed} ${name}`,
        firstId,
        idStep: PROCESSES_MAX,
        ttlMillis: plan.ttlMillis,
        commandTimeLimitMillis: plan.commandTimeLimitMillis,
        thinkMillis: plan.thinkMillis,
        idleMillis: plan.idleMillis,
        pollMillis: plan.pollMillis,
        patienceMillis: plan.patienceMillis,
      },
      CONNECT_TIME_LIMIT,
    );
    this.#current.set(node.name, process);
    return process;
  }

  #ended(process: LockProcess, lastSeen: Nanos, said: HarnessError | undefined): void {
    const killBegan = this.#killBegan.get(process.node.name);
    this.#killBegan.delete(process.node.name);
    const killed = killBegan !== undefined;
    // Certainly alive at its last stamp, and at the time the kill was ordered; I2 wants the end of belief not too late.
    const time = killed && killBegan > lastSeen ? killBegan : lastSeen;
    const down: HistoryEvent = {
      type: 'down',
      time,
      process: process.name,
      reason: killed ? 'killed' : process.quitting ? 'finished' : 'died',
    };
    this.#journal?.append(down);
    if (!killed && !process.quitting && this.#journal !== undefined)
      this.#failed.abort(
        said ??
          new HarnessError('environment', `client ${process.name} died by itself`, {
            remedy: 'was its container removed, or was there no memory? see logs/ in the run directory',
          }),
      );
  }
}

/** `k1` … `kn`. */
function lockNames(plan: Plan): string[] {
  return Array.from({ length: plan.locks }, (_, index) => `k${index + 1}`);
}
