// Carries out a schedule: waits for its times and events, injects, heals. `schedule.ts` decided what happens, `aim.ts`
// finds whom it hits, `faults/` know how; this file makes sure that every fault that began has ended, whatever is thrown (I5),
// and that the journal says when each began, when it was proved to act, and when it ended.

import type { Clock } from '../clock.ts';
import { FOLLOWING_ROLES, LEADING_ROLES, type ObservedRole } from '../contract/backend.ts';
import type { Node } from '../contract/cluster.ts';
import { messageOf } from '../contract/errors.ts';
import type { ActiveFault, FaultKind, FaultSpec, Schedule, Step } from '../contract/fault.ts';
import type { Random } from '../contract/workload.ts';
import {
  millis,
  type FaultEvent,
  type HistoryEvent,
  type JsonRecord,
  type ServerEvent,
} from '../history/op.ts';
import { randomStream } from '../rng.ts';
import { aimAt, grantedBy, type Aim, type Fired } from './aim.ts';
import { Tracker } from './tracker.ts';

type WhenStep = Extract<Step, { kind: 'when' }>;

export interface NemesisOptions {
  readonly schedule: Schedule;
  readonly kinds: ReadonlyMap<string, FaultKind>;
  readonly clock: Clock;
  readonly servers: readonly Node[];
  readonly clients: readonly Node[];
  /** What a server says it is; absent: servers have no roles. */
  readonly askRole?: (server: Node) => Promise<ObservedRole | undefined>;
  /** The node that runs a process, while it runs. */
  nodeOf(process: string): Node | undefined;
  /** Appends to the journal. */
  append(event: FaultEvent | ServerEvent): void;
}

/** While a rule waits for a promotion, each server is asked so often. */
const ASK_ROLE_EVERY = millis(100);

interface Rule {
  readonly step: WhenStep;
  readonly random: Random;
  left: number;
  readyAt: number;
}

/** What is asked of the nemesis while a run is under way. Disposing ends every fault. */
export class Nemesis implements AsyncDisposable {
  readonly #options: NemesisOptions;
  readonly #tracker = new Tracker();
  readonly #stop = new AbortController();
  /** Sort of fault and node name. */
  readonly #underFault = new Set<string>();
  /** Node → the role it was seen in last. */
  readonly #roles = new Map<string, string>();
  readonly #scopes = new Set<Promise<unknown>>();
  readonly #errors: unknown[] = [];
  readonly #failed = new AbortController();
  readonly #rules: readonly Rule[];
  readonly #aim: Aim;
  #count = 0;
  #startedAt = 0;
  #running = false;

  constructor(options: NemesisOptions) {
    this.#options = options;
    const { steps, seed } = options.schedule;
    this.#aim = aimAt({
      servers: options.servers,
      clients: options.clients,
      nodeOf: (process) => options.nodeOf(process),
      tracker: this.#tracker,
      random: randomStream(seed, 'fault targets'),
      isCutOff: ({ name }) => this.#underFault.has(`network ${name}`),
      askRole: (server) => this.#askRole(server),
    });
    this.#rules = steps
      .filter((step) => step.kind === 'when')
      .map((step, index) => ({
        step,
        random: randomStream(seed, `fault rule ${index}`),
        left: step.limit,
        readyAt: step.afterMillis,
      }));
  }

  /** Aborted, with the error as its reason, when a fault could not be injected or healed. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  /** Every journal event goes through here, so that targets can be resolved and rules can fire. */
  observe(event: HistoryEvent): void {
    const trigger: Fired = { event, lock: this.#tracker.lockOf(event) };
    this.#tracker.observe(event);
    const roleBefore = event.type === 'server' ? this.#roles.get(event.node) : undefined;
    if (event.type === 'server') this.#roles.set(event.node, event.role);
    if (!this.#running) return;
    const nowMillis = this.#elapsedMillis();
    for (const rule of this.#rules) {
      if (rule.left === 0 || nowMillis < rule.readyAt || !matches(rule.step, event, roleBefore)) continue;
      if (nowMillis > (rule.step.untilMillis ?? Infinity)) continue;
      this.#open(this.#fire(rule, trigger));
    }
  }

  /** Starts the timed steps and arms the rules. */
  start(): void {
    this.#running = true;
    this.#startedAt = this.#options.clock.now();
    for (const step of this.#options.schedule.steps)
      if (step.kind === 'at') this.#open(this.#scope(step.spec, step.atMillis, undefined));
    if (this.#rules.some(({ step }) => step.event === 'promoted'))
      for (const server of this.#options.servers) this.#open(this.#watchRole(server));
  }

  /** Ends every fault and waits until it is healed. Throws the first error of an injection or a healing. */
  async heal(): Promise<void> {
    this.#running = false;
    this.#stop.abort();
    while (this.#scopes.size > 0) await Promise.all(this.#scopes);
    const [first, ...others] = this.#errors.splice(0);
    if (first !== undefined)
      throw others.length === 0 ? first : new AggregateError([first, ...others], messageOf(first));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.heal();
  }

  /** Since the start of the load, which is what the times of a schedule count from. */
  #elapsedMillis(): number {
    return (this.#options.clock.now() - this.#startedAt) / 1e6;
  }

  async #fire(rule: Rule, trigger: Fired): Promise<void> {
    const { spec, delayMillis, cooldownMillis } = rule.step;
    const nowMillis = this.#elapsedMillis();
    const delay = rule.random.real(delayMillis.min, delayMillis.max);
    rule.left -= 1;
    rule.readyAt = nowMillis + delay + spec.durationMillis + cooldownMillis;
    if (await this.#scope(spec, delay, trigger)) return;
    rule.left += 1;
    rule.readyAt = nowMillis;
  }

  #open(scope: Promise<unknown>): void {
    const settled = scope
      .catch((error: unknown) => {
        this.#errors.push(error);
        this.#failed.abort(error);
      })
      .finally(() => this.#scopes.delete(settled));
    this.#scopes.add(settled);
  }

  /** One fault from its delay to its end. False: it never began. */
  async #scope(spec: FaultSpec, delay: number, trigger: Fired | undefined): Promise<boolean> {
    if (!(await this.#elapsed(delay))) return false;
    const kind = this.#options.kinds.get(spec.fault);
    if (kind === undefined) throw new Error(`no such fault kind: ${spec.fault}`);
    const sort = kind.hurts ?? 'process';
    // Stopped after the answer it would be a holder, which is another experiment.
    if (sort === 'process' && trigger !== undefined && this.#tracker.isAnswered(trigger.event)) return false;
    const { candidates, wanted } = await this.#aim(spec.target, trigger);
    // From here until they are marked nothing is awaited: two faults that begin together choose one after the other.
    const free = candidates.filter(({ name }) => !this.#underFault.has(`${sort} ${name}`));
    const nodes = free.length < wanted ? [] : free.slice(0, wanted);
    // A rule whose process ended or is already under a fault waits for the next event; a timed step is accounted for.
    if (nodes.length === 0 && trigger !== undefined) return false;
    this.#count += 1;
    const id = `f${this.#count}`;
    const targets = nodes.map(({ name }) => name);
    const report = (phase: FaultEvent['phase'], evidence?: JsonRecord): void => {
      this.#options.append({
        type: 'fault',
        phase,
        id,
        time: this.#options.clock.now(),
        fault: spec.fault,
        targets,
        ...(phase === 'begin' && {
          params: { ...spec.params, target: spec.target.kind, durationMillis: spec.durationMillis },
        }),
        ...(evidence && { evidence }),
      });
    };
    report('begin');
    if (nodes.length === 0) {
      report('end', { noTarget: spec.target.kind });
      return true;
    }
    for (const name of targets) this.#underFault.add(`${sort} ${name}`);
    let active: ActiveFault | undefined;
    try {
      const began = this.#options.clock.now();
      active = await kind.inject(nodes, spec);
      if (active.evidence !== undefined) report('acted', active.evidence);
      // Proving it takes part of its time.
      await this.#elapsed(spec.durationMillis - (this.#options.clock.now() - began) / 1e6);
    } finally {
      try {
        await active?.[Symbol.asyncDispose]();
      } finally {
        for (const name of targets) this.#underFault.delete(`${sort} ${name}`);
        report('end', active?.healed);
      }
    }
    return true;
  }

  /** Waits; false: the nemesis was stopped meanwhile. */
  async #elapsed(duration: number): Promise<boolean> {
    const { signal } = this.#stop;
    try {
      if (duration > 0) await this.#options.clock.sleep(millis(duration), signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return !signal.aborted;
  }

  /** What a server says it is, which goes into the journal. `news`: only if it has changed. */
  async #askRole(node: Node, record: 'always' | 'news' = 'always'): Promise<string | undefined> {
    const options = this.#options;
    const seen = await options.askRole?.(node);
    if (seen === undefined) return undefined;
    const { role, term } = seen;
    if (record === 'always' || this.#roles.get(node.name) !== role)
      options.append({
        type: 'server',
        time: options.clock.now(),
        node: node.name,
        role,
        ...(term !== undefined && { term }),
      });
    return role;
  }

  /** Asks a server for its role until the nemesis is stopped. */
  async #watchRole(server: Node): Promise<void> {
    do await this.#askRole(server, 'news');
    while (await this.#elapsed(ASK_ROLE_EVERY));
  }
}

/** `roleBefore`: what the server that the event tells of was seen as before. */
function matches(step: WhenStep, event: HistoryEvent, roleBefore: string | undefined): boolean {
  switch (step.event) {
    case 'granted':
      return event.type === 'ok' && event.op === 'acquire';
    case 'acquiring':
      return event.type === 'invoke' && event.op === 'acquire';
    case 'renewing':
      return event.type === 'invoke' && event.op === 'renew';
    case 'released':
      return event.type === 'ok' && event.op === 'release';
    case 'promoted':
      return (
        event.type === 'server' &&
        LEADING_ROLES.has(event.role) &&
        roleBefore !== undefined &&
        FOLLOWING_ROLES.has(roleBefore)
      );
    case 'voted':
      return 'votes' in event && grantedBy(event.votes ?? []).length === step.votes;
  }
}
