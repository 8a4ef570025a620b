// Writes lines to a file descriptor. An invocation must be in the harness's pipe before its request leaves, whatever
// happens to the process next (I1), so Node's own streams, which keep lines in memory, will not do. What a completion
// says is no such promise: it may go with the next line, which the same turn of the event loop mostly brings.

import { writeSync } from 'node:fs';

/** Writes some of the bytes from `offset` on; returns how many. */
export type WriteBytes = (fd: number, bytes: Uint8Array, offset: number) => number;

export interface LineWriter {
  /** Blocks until `line` and all before it are written. Throws what the pipe throws, `EPIPE` if nobody reads it any more. */
  now(line: string): void;
  /** The same, at the latest when this turn of the event loop is over. */
  soon(line: string): void;
  /** Blocks until everything is written. */
  flush(): void;
}

/** `later`: calls back at the end of this turn of the event loop. */
export function openLineWriter(
  fd: number,
  write: WriteBytes = writeSync,
  later: (flush: () => void) => unknown = setImmediate,
): LineWriter {
  let waiting = '';
  const flush = (): void => {
    const text = waiting;
    waiting = '';
    if (text !== '') writeAll(fd, Buffer.from(text), write);
  };
  return {
    now(line) {
      waiting += `${line}\n`;
      flush();
    },
    soon(line) {
      if (waiting === '') later(flush);
      waiting += `${line}\n`;
    },
    flush,
  };
}

function writeAll(fd: number, bytes: Uint8Array, write: WriteBytes): void {
  for (let offset = 0; offset < bytes.length;) {
    try {
      offset += write(fd, bytes, offset);
    } catch (error) {
      // A full pipe in non-blocking mode: wait for the reader, as a blocking one would.
      if (!isFull(error)) throw error;
      Atomics.wait(PAUSE, 0, 0, 1);
    }
  }
}

const PAUSE = new Int32Array(new SharedArrayBuffer(4));

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}
