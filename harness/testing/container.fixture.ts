// One container for a test, without a cluster: started from one of our images by the docker command, reached at its
// address on the engine's own network (so the tests that use it need Linux), removed by its scope.

import { execFile, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ExecResult } from '../contract/cluster.ts';

const run = promisify(execFile);
const LABEL = ['--label', 'lockpick.test'];
const DOCKER_TIME_LIMIT_MILLIS = 20_000;
const BUILD_TIME_LIMIT_MILLIS = 600_000;

export interface Container extends AsyncDisposable {
  /** Sends a signal to its first process; after KILL waits until it is dead. */
  signal(name: 'STOP' | 'CONT' | 'KILL' | 'TERM'): Promise<void>;
  exec(command: readonly string[]): Promise<ExecResult>;
}

export interface ServerContainer extends Container {
  /** Its address, which outlives KILL and `start`. */
  readonly host: string;
  readonly port: number;
  /** After KILL; resolves when it takes connections. */
  start(): Promise<void>;
}

export interface ProgramContainer extends Container {
  readonly child: ChildProcessWithoutNullStreams;
  /** Resident memory of its first process, shared pages included, and what the engine charges the container with. */
  memory(): Promise<{ readonly residentBytes: number; readonly chargedBytes: number }>;
}

async function docker(...args: string[]): Promise<string> {
  const { stdout } = await run('docker', args, { timeout: DOCKER_TIME_LIMIT_MILLIS });
  return stdout.trim();
}

async function imageReference(name: string): Promise<string> {
  const script = join(import.meta.dirname, '../../docker/images.sh');
  const { stdout } = await run('bash', [script, name], { timeout: BUILD_TIME_LIMIT_MILLIS });
  return stdout.trim().slice(name.length + 1);
}

function container(id: string): Container {
  return {
    signal: async (name) => {
      await docker('kill', '--signal', name, id);
      if (name === 'KILL') await docker('wait', id);
    },
    exec: async (command) => {
      try {
        const { stdout, stderr } = await run('docker', ['exec', id, ...command], {
          timeout: DOCKER_TIME_LIMIT_MILLIS,
        });
        return { exitCode: 0, stdout, stderr };
      } catch (error) {
        return { exitCode: 1, stdout: '', stderr: String(error) };
      }
    },
    [Symbol.asyncDispose]: async () => {
      await docker('rm', '--force', '--volumes', id);
    },
  };
}

/** Starts `image` in a network namespace of its own and waits until `port` takes connections. */
export async function startServer(image: string, port: number, ...args: string[]): Promise<ServerContainer> {
  const sandbox = await docker('run', '--detach', ...LABEL, await imageReference('sandbox'));
  const host = await docker('inspect', '--format', '{{.NetworkSettings.IPAddress}}', sandbox);
  const id = await docker(
    'run',
    '--detach',
    ...LABEL,
    '--network',
    `container:${sandbox}`,
    await imageReference(image),
    ...args,
  );
  await untilOpen(host, port);
  const server = container(id);
  return {
    ...server,
    host,
    port,
    start: async () => {
      await docker('start', id);
      await untilOpen(host, port);
    },
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await container(sandbox)[Symbol.asyncDispose]();
    },
  };
}

/** Runs the image's command with its streams attached; `files`: path here → path in the container. */
export async function startProgram(
  image: string,
  files: Readonly<Record<string, string>>,
): Promise<ProgramContainer> {
  const mounts = Object.entries(files).flatMap(([from, to]) => ['--volume', `${from}:${to}:ro`]);
  const id = await docker('create', '--interactive', ...LABEL, ...mounts, await imageReference(image));
  const child = spawn('docker', ['start', '--attach', '--interactive', id]);
  child.stderr.pipe(process.stderr);
  return {
    ...container(id),
    child,
    memory: async () => {
      const pid = await docker('inspect', '--format', '{{.State.Pid}}', id);
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const residentBytes = 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
      const stats = await docker('stats', '--no-stream', '--format', '{{.MemUsage}}', id);
      return { residentBytes, chargedBytes: 2 ** 20 * Number(/^([\d.]+)MiB/.exec(stats)?.[1]) };
    },
  };
}

async function untilOpen(host: string, port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect({ host, port });
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (open) return;
    await delay(50);
  }
  throw new Error(`${host}:${port} takes no connections`);
}
