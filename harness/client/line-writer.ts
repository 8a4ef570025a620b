// Writes lines to a file descriptor so that each is out of this process when the call returns: an invocation must be in
// the harness's pipe before its request leaves, whatever happens to the process next (I1). Node's own streams would
// keep it in memory.

import { writeSync } from 'node:fs';

/** Writes some of the bytes from `offset` on; returns how many. */
export type WriteBytes = (fd: number, bytes: Uint8Array, offset: number) => number;

/** Blocks until `line` and a line break are written. Throws what the pipe throws, `EPIPE` if nobody reads it any more. */
export function writeLine(fd: number, line: string, write: WriteBytes = writeSync): void {
  const bytes = Buffer.from(`${line}\n`);
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
