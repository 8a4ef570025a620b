// One node: the container that runs its process, and the sandbox container whose network namespace it shares (3.2).
// `docker-cluster.ts` creates both; faults and coordinator hold this through the `Node` interface and know no Docker.

import { monotonicClock, monotonicOrigin } from '../../clock.ts';
import type {
  ExecResult,
  Node,
  NodeSpec,
  NodeState,
  ProbeAnswer,
  Throttling,
} from '../../contract/cluster.ts';
import { HarnessError } from '../../contract/errors.ts';
import { millis, nanosOf, type Millis } from '../../history/op.ts';
import { ask, engineStatus, type Container } from './engine.ts';
import { execWithin } from './exec.ts';
import { knock } from './knock.ts';
import { frameReader, lastLines, tailOf } from './output.ts';
import { isStopped, parseTop, readThreads, TOP_ARGUMENTS, type Thread } from './process-state.ts';
import { attach, type AttachedStream } from './stream.ts';
import { LATE } from './time-limit.ts';

export interface NodeParts {
  readonly spec: NodeSpec;
  readonly address: string;
  /** Created, not started. */
  readonly container: Container;
  /** Another one like it. */
  create(): Promise<Container>;
  /** Running. */
  readonly sandbox: Container;
}

/** A node, and what only its cluster may do with it. */
export interface DockerNode extends Node {
  /** Gives up the connections to the engine. */
  disconnect(): void;
}

const PROBE_TIME_LIMIT = millis(1_000);
const READY_PAUSE = millis(20);
/** Between a process's end and the engine's taking note of it. */
const SETTLE_TIME_LIMIT = millis(5_000);
const LOG_LINES = 20;
const LOG_BYTES_MAX = 1 << 20;
const ALREADY_STARTED = 304;
const EMPTY_TIME_LIMIT = millis(10_000);
/** What the kernel's scheduler takes by default, and what it takes for no limit: sched-bwc. */
const PERIOD_MICROS = 100_000;
const NO_QUOTA = -1;

export function dockerNode({ spec, address, sandbox, ...parts }: NodeParts): DockerNode {
  const { name } = spec;
  let { container } = parts;
  /** What the containers printed that this one replaced. */
  let earlierLogs = '';
  const clock = monotonicClock(monotonicOrigin());
  const errors = tailOf(LOG_BYTES_MAX);
  /** Of the process that runs or ran last, and of the one that will be started next. */
  let current: AttachedStream | undefined;
  let next: AttachedStream | undefined;

  const exec = async (
    where: Container,
    command: readonly string[],
    timeLimit: Millis,
  ): Promise<ExecResult> => {
    const result = await execWithin(where, command, timeLimit);
    if (result !== LATE) return result;
    throw new HarnessError(
      'environment',
      `${command[0]} did not end within ${timeLimit} ms on node ${name}`,
      {
        detail: command.join(' '),
      },
    );
  };

  const state = async (): Promise<NodeState> => {
    const deadline = clock.now() + nanosOf(SETTLE_TIME_LIMIT);
    for (;;) {
      const { Id, State } = await ask(`inspect node ${name}`, container.inspect());
      if (!State.Running) return { kind: 'exited', exitCode: State.ExitCode };
      const pid = State.Pid;
      if (State.Paused) return { kind: 'frozen', pid };
      const stopped = isStopped(readThreads(pid, Id) ?? (await topThreads()), pid);
      if (stopped !== undefined) return { kind: stopped ? 'stopped' : 'running', pid };
      // The process has just ended and the engine is about to notice.
      if (clock.now() > deadline)
        throw new HarnessError(
          'environment',
          `the engine says node ${name} runs, but there is no such process`,
        );
      await clock.sleep(millis(5));
    }
  };

  const topThreads = async (): Promise<Thread[]> => {
    try {
      return parseTop(
        await ask(`list the processes of node ${name}`, container.top({ ps_args: TOP_ARGUMENTS })),
      );
    } catch (error) {
      // Refused, for it ended since it was inspected.
      if (engineStatus(error) !== undefined) return [];
      throw error;
    }
  };

  const throttling = async (): Promise<Throttling> => {
    const { cpu_stats } = await ask(
      `measure node ${name}`,
      container.stats({ stream: false, 'one-shot': true }),
    );
    const { throttled_periods, throttled_time } = cpu_stats.throttling_data;
    return { throttledPeriods: throttled_periods, throttledMillis: throttled_time / 1e6 };
  };

  /** Does something to the process that the engine refuses in some states; `pointless` says in which that is fine. */
  const act = async (
    what: string,
    action: Promise<unknown>,
    pointless: readonly NodeState['kind'][],
  ): Promise<void> => {
    try {
      await ask(`${what} node ${name}`, action);
    } catch (error) {
      if (!pointless.includes((await state()).kind)) throw error;
    }
  };

  const probe = async (timeLimit: Millis): Promise<ProbeAnswer> => {
    if (spec.ready?.kind === 'exec') {
      try {
        const result = await execWithin(container, spec.ready.command, timeLimit);
        if (result === LATE) return 'silent';
        return result.exitCode === 0 ? 'answers' : 'declines';
      } catch (error) {
        const { kind } = await state();
        if (kind === 'running') throw error;
        return kind === 'exited' ? 'refused' : 'silent';
      }
    }
    if (spec.port === undefined)
      throw new HarnessError('internal', `node ${name} has no port and no ready probe to ask`);
    const { send, expect } = spec.ready ?? { send: '', expect: '' };
    return knock(sandbox, { address, port: spec.port, send, expect }, timeLimit);
  };

  const logs = async (): Promise<string> => {
    if (spec.stream === true) return errors.text();
    const output = tailOf(Number.POSITIVE_INFINITY);
    const bytes = await ask(`read the log of node ${name}`, container.logs({ stdout: true, stderr: true }));
    frameReader({ stdout: output.push, stderr: output.push })(bytes);
    return earlierLogs + output.text();
  };

  const ready = async (timeLimit: Millis, signal?: AbortSignal): Promise<void> => {
    const deadline = clock.now() + nanosOf(timeLimit);
    for (;;) {
      signal?.throwIfAborted();
      const answer = spec.ready === undefined ? undefined : await probe(PROBE_TIME_LIMIT);
      if (answer === 'answers') return;
      const seen = await state();
      if (seen.kind === 'exited')
        throw await notReady(`node ${name} exited with code ${seen.exitCode} before it was ready`);
      if (answer === undefined && seen.kind === 'running') return;
      if (clock.now() > deadline)
        throw await notReady(
          `node ${name} was not ready within ${timeLimit} ms (${seen.kind}, ${answer ?? 'not asked'})`,
        );
      await clock.sleep(READY_PAUSE, signal);
    }
  };

  const notReady = async (message: string): Promise<HarnessError> => {
    const log = lastLines(await logs(), LOG_LINES);
    return new HarnessError('environment', log === '' ? message : `${message}:\n${log}`, {
      detail: `image ${spec.image}`,
    });
  };

  const connect = async (): Promise<AttachedStream> => {
    if (next !== undefined && !next.ended) return next;
    if (current !== undefined && !current.ended && (await state()).kind !== 'exited') return current;
    next = await attach(container, errors.push);
    return next;
  };

  return {
    spec,
    name,
    address,
    state,
    probe,
    ready,
    logs,
    signal: (signal) => act(`send ${signal} to`, container.kill({ signal }), ['exited']),
    freeze: () => act('freeze', container.pause(), ['exited', 'frozen']),
    thaw: () => act('thaw', container.unpause(), ['exited', 'running', 'stopped']),
    limitProcessor: async (share) => {
      const quota = share === undefined ? NO_QUOTA : Math.round(share * PERIOD_MICROS);
      await ask(
        `limit the processor time of node ${name}`,
        container.update({ CpuPeriod: PERIOD_MICROS, CpuQuota: quota }),
      );
    },
    throttling,
    start: async () => {
      // Before the process is there, so that its first line is not lost.
      if (spec.stream === true) await connect();
      try {
        await ask(`start node ${name}`, container.start());
      } catch (error) {
        if (engineStatus(error) !== ALREADY_STARTED) throw error;
      }
      current = next ?? current;
      next = undefined;
    },
    reset: async () => {
      if (spec.stream === true)
        throw new HarnessError('internal', `node ${name} cannot be reset: it is spoken to over its streams`);
      earlierLogs = await logs();
      for (const { path, holds } of spec.sharedFolders ?? [])
        if (holds === 'disk')
          await exec(sandbox, ['find', path, '-mindepth', '1', '-delete'], EMPTY_TIME_LIMIT);
      await ask(`remove node ${name}`, container.remove({ v: true }));
      container = await parts.create();
    },
    exec: (command, timeLimit) => exec(container, command, timeLimit),
    execInSandbox: (command, timeLimit) => exec(sandbox, command, timeLimit),
    connect: async () => {
      if (spec.stream !== true)
        throw new HarnessError('internal', `node ${name} has no streams to connect to`);
      return connect();
    },
    disconnect: () => {
      current?.destroy();
      next?.destroy();
    },
  };
}
