// Carries out a schedule: waits for its times and events, resolves targets, injects, heals. `schedule.ts` decided what
// happens, `faults/` know how; this file makes sure that every fault that began has ended, whatever is thrown (I5),
// and that the journal says when each began, when it was proved to act, and when it ended.

import type { Clock } from '../clock.ts';
import type { Node } from '../contract/cluster.ts';
import { messageOf } from '../contract/errors.ts';
import type { ActiveFault, FaultKind, FaultSpec, Schedule, Step, TargetSelector } from '../contract/fault.ts';
import type { Random } from '../contract/workload.ts';
import { millis, type FaultEvent, type HistoryEvent, type JsonRecord } from '../history/op.ts';
import { randomStream } from '../rng.ts';
import { Tracker } from './tracker.ts';

type WhenStep = Extract<Step, { kind: 'when' }>;

export interface NemesisOptions {
  readonly schedule: Schedule;
  readonly kinds: ReadonlyMap<string, FaultKind>;
  readonly clock: Clock;
  readonly servers: readonly Node[];
  readonly clients: readonly Node[];
  /** The node that runs a process, while it runs. */
  nodeOf(process: string): Node | undefined;
  /** Appends to the journal. */
  append(event: FaultEvent): void;
}

/** What is asked of the nemesis while a run is under way. Disposing ends every fault. */
export class Nemesis implements AsyncDisposable {
  readonly #options: NemesisOptions;
  readonly #tracker = new Tracker();
  readonly #stop = new AbortController();
  readonly #underFault = new Set<string>();
  readonly #scopes = new Set<Promise<void>>();
  readonly #errors: unknown[] = [];
  readonly #failed = new AbortController();
  readonly #rules: { step: WhenStep; random: Random; left: number; readyAt: number }[];
  readonly #targets: Random;
  #count = 0;
  #running = false;

  constructor(options: NemesisOptions) {
    this.#options = options;
    const { steps, seed } = options.schedule;
    this.#targets = randomStream(seed, 'fault targets');
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
    this.#tracker.observe(event);
    if (!this.#running) return;
    const nowMillis = this.#options.clock.now() / 1e6;
    for (const rule of this.#rules) {
      if (rule.left === 0 || nowMillis < rule.readyAt || !matches(rule.step.event, event)) continue;
      const { spec, delayMillis, cooldownMillis } = rule.step;
      const delay = rule.random.real(delayMillis.min, delayMillis.max);
      rule.left -= 1;
      rule.readyAt = nowMillis + delay + spec.durationMillis + cooldownMillis;
      const process = 'process' in event ? event.process : undefined;
      this.#open(this.#scope(spec, delay, process));
    }
  }

  /** Starts the timed steps and arms the rules. */
  start(): void {
    this.#running = true;
    const nowMillis = this.#options.clock.now() / 1e6;
    for (const step of this.#options.schedule.steps)
      if (step.kind === 'at') this.#open(this.#scope(step.spec, step.atMillis - nowMillis, undefined));
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

  #open(scope: Promise<void>): void {
    const settled = scope
      .catch((error: unknown) => {
        this.#errors.push(error);
        this.#failed.abort(error);
      })
      .finally(() => this.#scopes.delete(settled));
    this.#scopes.add(settled);
  }

  /** One fault from its delay to its end. */
  async #scope(spec: FaultSpec, delay: number, trigger: string | undefined): Promise<void> {
    if (!(await this.#elapsed(delay))) return;
    const node = this.#resolve(spec.target, trigger);
    // A rule whose process ended or is already under a fault waits for the next event; a timed step is accounted for.
    if (node === undefined && trigger !== undefined) return;
    this.#count += 1;
    const id = `f${this.#count}`;
    const kind = this.#options.kinds.get(spec.fault);
    if (kind === undefined) throw new Error(`no such fault kind: ${spec.fault}`);
    const targets = node === undefined ? [] : [node.name];
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
    if (node === undefined) return report('end', { noTarget: spec.target.kind });
    this.#underFault.add(node.name);
    let active: ActiveFault | undefined;
    try {
      const began = this.#options.clock.now();
      active = await kind.inject(node, spec);
      if (active.evidence !== undefined) report('acted', active.evidence);
      // Proving it takes part of its time.
      await this.#elapsed(spec.durationMillis - (this.#options.clock.now() - began) / 1e6);
    } finally {
      try {
        await active?.[Symbol.asyncDispose]();
      } finally {
        this.#underFault.delete(node.name);
        report('end', active?.healed);
      }
    }
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

  #resolve(target: TargetSelector, trigger: string | undefined): Node | undefined {
    const { servers, clients } = this.#options;
    const nodeOf = (process: string): Node | undefined => this.#options.nodeOf(process);
    const free = (nodes: readonly (Node | undefined)[]): Node[] =>
      nodes.filter((node) => node !== undefined).filter((node) => !this.#underFault.has(node.name));
    const firstOf = (processes: readonly string[]): Node | undefined => free(processes.map(nodeOf))[0];
    switch (target.kind) {
      case 'holder':
        return trigger === undefined
          ? firstOf(this.#tracker.holders().toReversed())
          : free([nodeOf(trigger)])[0];
      case 'acquirer':
        return firstOf(this.#tracker.inFlight('acquire'));
      case 'releaser':
        return firstOf(this.#tracker.inFlight('release'));
      case 'random-client':
        return this.#pick(free(clients));
      case 'server':
        return this.#pick(free(servers));
      case 'node':
        return free([...servers, ...clients].filter((node) => node.name === target.name))[0];
    }
  }

  #pick(nodes: readonly Node[]): Node | undefined {
    return nodes.length === 0 ? undefined : this.#targets.pick(nodes);
  }
}

function matches(trigger: WhenStep['event'], event: HistoryEvent): boolean {
  switch (trigger) {
    case 'granted':
      return event.type === 'ok' && event.op === 'acquire';
    case 'acquiring':
      return event.type === 'invoke' && event.op === 'acquire';
    case 'renewing':
      return event.type === 'invoke' && event.op === 'renew';
    case 'released':
      return event.type === 'ok' && event.op === 'release';
  }
}
