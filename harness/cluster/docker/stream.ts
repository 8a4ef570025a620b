// A node's standard streams through the engine: attached before its process starts, so that no line is lost, and lives
// until the process ends. Not the network: a partition does not touch it, and a stopped process just falls silent.

import type { NodeStream } from '../../contract/cluster.ts';
import { ask, type Container } from './engine.ts';
import { frameReader, lineReader } from './output.ts';

export interface AttachedStream extends NodeStream {
  readonly ended: boolean;
  /** Gives up the connection; the container's stdin is then closed by the engine (`StdinOnce`). */
  destroy(): void;
}

/** Attaches to a container that runs, or is about to be started. `onError` gets the bytes of its stderr. */
export async function attach(
  container: Container,
  onError: (bytes: Buffer) => void,
): Promise<AttachedStream> {
  const socket = await ask(
    'attach to a container',
    container.attach({ stream: true, stdin: true, stdout: true, stderr: true, hijack: true }),
  );
  const listeners: ((line: string) => void)[] = [];
  const early: string[] = [];
  const splitLines = lineReader((line) => {
    if (listeners.length === 0) early.push(line);
    for (const listener of listeners) listener(line);
  });
  let ended = false;
  const closed = new Promise<void>((resolve) => {
    const end = (): void => {
      ended = true;
      resolve();
    };
    socket.on('end', end);
    socket.on('close', end);
    // The engine went away. For us that is the end of the stream.
    socket.on('error', end);
  });
  socket.on('data', frameReader({ stdout: splitLines, stderr: onError }));
  return {
    send: (line) => {
      if (!ended) socket.write(`${line}\n`);
    },
    onLine: (listener) => {
      listeners.push(listener);
      for (const line of early.splice(0)) listener(line);
    },
    closed,
    get ended() {
      return ended;
    },
    destroy: () => {
      if ('destroy' in socket && typeof socket.destroy === 'function') socket.destroy();
    },
  };
}
