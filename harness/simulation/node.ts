// A node of a simulated cluster: what the engine does to a container, done to a simulated process, after the time that
// an engine takes. Its sandbox can put one kind of question to it (`askOverTcp`) and the ready probe; whatever else a
// command line does there in a container is done by the simulation's own faults.

import type { ExecResult, Node, NodeSpec, NodeState, NodeStream, ProbeAnswer } from '../contract/cluster.ts';
import { HarnessError } from '../contract/errors.ts';
import type { Random } from '../contract/workload.ts';
import { millis, type Millis } from '../history/op.ts';
import { askedOverTcp } from '../backends/ask-over-tcp.ts';
import type { Disk } from './disk.ts';
import type { Message } from './messages.ts';
import type { Network } from './network.ts';
import { startProcess, type SimulatedProcess } from './process.ts';
import type { Program } from './program.ts';
import type { Scheduler } from './scheduler.ts';
import { openStreams, type Streams } from './streams.ts';
import type { WallClock } from './wall-clock.ts';

export interface SimulatedNode extends Node {
  readonly wall: WallClock;
  readonly disk: Disk;
  /** Ends its process, and takes of its disk what was not synced. Returns how much that was. */
  losePower(): Promise<number>;
}

/** What all nodes of a cluster have in common. */
export interface Site {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly random: (name: string) => Random;
  readonly nodeAt: (address: string) => string | undefined;
  readonly addressOf: (node: string) => string;
  readonly nextPid: () => number;
}

/** What the engine takes for one order. */
const ENGINE_MILLIS = { min: 1, max: 12 };
const KILLED = 137;
const POLL = millis(20);
/** CFS bandwidth control, Linux: cpu.cfs_period_us. */
const QUOTA_PERIOD_NANOS = 100e6;

export interface NodeParts {
  readonly spec: NodeSpec;
  readonly address: string;
  readonly program: Program;
  readonly wall: WallClock;
  readonly disk: Disk;
}

/** A node whose program does not run yet. */
export function openNode({ spec, address, program, wall, disk }: NodeParts, site: Site): SimulatedNode {
  const { scheduler, network } = site;
  const engine = site.random(`engine ${spec.name}`);
  const sandbox = startProcess(scheduler, 0, wall);
  let process: SimulatedProcess | undefined;
  let isFrozen = false;
  /** Of the processor; undefined: as much as there is. */
  let share: number | undefined;
  const throttled = { throttledPeriods: 0, throttledMillis: 0 };
  let streams: Streams = openStreams(scheduler);
  let log = '';

  const wait = (duration: Millis): Promise<void> =>
    new Promise((resolve) => {
      scheduler.at(scheduler.now + duration * 1e6, resolve);
    });
  const engineActs = (): Promise<void> => wait(millis(engine.real(ENGINE_MILLIS.min, ENGINE_MILLIS.max)));

  const start = (): void => {
    if (streams.used) streams = openStreams(scheduler);
    const own = streams;
    own.used = true;
    // Of the programs only the client's is made of promises (`program.ts`).
    const kind = spec.role === 'client' ? undefined : 'quiet';
    const started = startProcess(scheduler, site.nextPid(), wall, kind);
    process = started;
    isFrozen = false;
    started.onEnd(() => own.end());
    program({
      spec,
      process: started,
      network,
      disk,
      random: site.random(`program ${spec.name} ${started.pid}`),
      nodeAt: site.nodeAt,
      addressOf: site.addressOf,
      output: {
        print: (line) => {
          if (spec.stream === true) own.out(line);
          else log += `${line}\n`;
        },
        record: own.record,
        onInput: (listener) => own.onIn((line) => started.receive(() => listener(line))),
      },
    });
  };

  /** One period of the kernel's quota: so much of it the process runs, and then no more. */
  const period = (): void => {
    const granted = share;
    if (granted === undefined) return;
    const own = process;
    scheduler.at(scheduler.now + granted * QUOTA_PERIOD_NANOS, () => {
      own?.starve('denied');
      scheduler.at(scheduler.now + (1 - granted) * QUOTA_PERIOD_NANOS, () => {
        if (own?.state === 'running') {
          throttled.throttledPeriods += 1;
          throttled.throttledMillis += ((1 - granted) * QUOTA_PERIOD_NANOS) / 1e6;
        }
        own?.starve('granted');
        period();
      });
    });
  };

  const state = (): NodeState => {
    if (process === undefined || process.state === 'ended')
      return { kind: 'exited', exitCode: process?.exitCode ?? 0 };
    const { pid } = process;
    if (process.state === 'running') return { kind: 'running', pid };
    return { kind: isFrozen ? 'frozen' : 'stopped', pid };
  };

  /** Connects from the sandbox, says something, and waits for what comes back. */
  const converse = (message: Message, timeLimit: Millis): Promise<Message | 'silent' | 'refused'> =>
    new Promise((resolve) => {
      let socketHere: { close(): void } | undefined;
      const end = (answer: Message | 'silent' | 'refused'): void => {
        cancel();
        socketHere?.close();
        resolve(answer);
      };
      const cancel = sandbox.after(timeLimit, () => end('silent'));
      network.connect(
        { node: spec.name, process: sandbox },
        spec.name,
        { message: end, closed: () => end('refused') },
        (socket) => {
          socketHere = socket;
          if (socket === undefined) end('refused');
          else socket.send(message);
        },
      );
    });
  const probe = async (timeLimit: Millis): Promise<ProbeAnswer> => {
    const answer = await converse({ kind: 'probe' }, timeLimit);
    return typeof answer === 'string' ? answer : 'answers';
  };

  return {
    spec,
    name: spec.name,
    address,
    wall,
    disk,
    async signal(signal) {
      await engineActs();
      switch (signal) {
        case 'SIGSTOP':
          return process?.stop();
        case 'SIGCONT':
          return process?.resume();
        case 'SIGKILL':
        case 'SIGTERM':
          return process?.end(KILLED);
      }
    },
    async losePower() {
      await engineActs();
      process?.end(KILLED);
      return disk.losePower(scheduler.now);
    },
    async freeze() {
      await engineActs();
      process?.stop();
      isFrozen = true;
    },
    async thaw() {
      await engineActs();
      isFrozen = false;
      process?.resume();
    },
    async limitProcessor(granted) {
      await engineActs();
      share = granted;
      if (granted !== undefined) period();
    },
    throttling: async () => ({ ...throttled }),
    async start() {
      await engineActs();
      start();
    },
    async reset() {
      await engineActs();
      disk.wipe();
    },
    state: async () => state(),
    probe,
    async ready(timeLimit, signal) {
      const deadline = scheduler.now + timeLimit * 1e6;
      if (spec.ready === undefined) return;
      for (;;) {
        signal?.throwIfAborted();
        if ((await probe(millis(1_000))) === 'answers') return;
        if (state().kind === 'exited' || scheduler.now > deadline)
          throw new HarnessError('environment', `node ${spec.name} does not become ready`);
        await wait(POLL);
      }
    },
    async exec(command, timeLimit) {
      const text = askedByTool(command);
      if (text === undefined) throw notSimulated(`the command ${command.join(' ')}`);
      await engineActs();
      return printed(await converse({ kind: 'text', text }, timeLimit));
    },
    async execInSandbox(command): Promise<ExecResult> {
      const asked = askedOverTcp(command);
      if (asked === undefined) throw notSimulated(`the command ${command.join(' ')}`);
      await engineActs();
      return printed(await converse({ kind: 'text', text: asked.question }, asked.timeLimit));
    },
    connect: async (): Promise<NodeStream> => {
      if (state().kind === 'exited' && streams.used) streams = openStreams(scheduler);
      return streams.outside;
    },
    logs: async () => log,
  };
}

/** What a server's own program is told to ask it; undefined: it is another command. */
function askedByTool(command: readonly string[]): string | undefined {
  const [tool, option] = command;
  if (tool === 'psql') return command.at(-1);
  return tool === 'redis-cli' && option === '-p' ? command.slice(3).join(' ') : undefined;
}

/** As a program prints it that was told an answer. */
function printed(answer: Message | 'silent' | 'refused'): ExecResult {
  return typeof answer === 'object' && answer.kind === 'text'
    ? { exitCode: 0, stdout: answer.text, stderr: '' }
    : { exitCode: 1, stdout: '', stderr: typeof answer === 'string' ? answer : answer.kind };
}

function notSimulated(what: string): HarnessError {
  return new HarnessError('internal', `${what} is not simulated`);
}
