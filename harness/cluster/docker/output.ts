// What comes out of a container: the engine multiplexes stdout and stderr into frames (8 bytes: stream, three zeros,
// length; then the payload), and lines have to be cut out of the payload. Pure; `stream.ts` and `exec.ts` feed it.
// dockerode brings a demultiplexer that copies the rest of its buffer, and calls itself, once per frame: with a line a
// frame and 64 KiB a read that is quadratic, and deep enough to overflow the stack.
// Format: Docker Engine API, "Attach to a container", stream format.

export interface OutputListener {
  stdout(bytes: Buffer): void;
  stderr(bytes: Buffer): void;
}

const HEADER_BYTES = 8;
const STDERR = 2;

/** Takes the raw bytes as they come, hands each frame's payload on, in order. Amortised linear. */
export function frameReader(listener: OutputListener): (chunk: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const bytes = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    let start = 0;
    while (bytes.length - start >= HEADER_BYTES) {
      const end = start + HEADER_BYTES + bytes.readUInt32BE(start + 4);
      if (end > bytes.length) break;
      const payload = bytes.subarray(start + HEADER_BYTES, end);
      if (bytes[start] === STDERR) listener.stderr(payload);
      else listener.stdout(payload);
      start = end;
    }
    pending = bytes.subarray(start);
  };
}

const LINE_FEED = 0x0a;

/**
 * Takes bytes as they come, hands each complete line on without its line feed. Cut at the byte, decoded as a whole, so
 * a character may lie across two chunks. What follows the last line feed stays behind: a torn line is no line.
 */
export function lineReader(onLine: (line: string) => void): (chunk: Buffer) => void {
  let torn: Buffer[] = [];
  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      torn.push(chunk.subarray(start, end));
      onLine(torn.length === 1 ? chunk.toString('utf8', start, end) : Buffer.concat(torn).toString('utf8'));
      torn = [];
      start = end + 1;
    }
    if (start < chunk.length) torn.push(Buffer.from(chunk.subarray(start)));
  };
}

export interface Tail {
  readonly push: (bytes: Buffer) => void;
  readonly text: () => string;
}

/** Keeps at least the last `limit` bytes, and at most twice that, of everything it is given. */
export function tailOf(limit: number): Tail {
  let kept: Buffer[] = [];
  let size = 0;
  return {
    push: (bytes) => {
      kept.push(Buffer.from(bytes));
      size += bytes.length;
      if (size < 2 * limit) return;
      const last = Buffer.concat(kept).subarray(-limit);
      kept = [last];
      size = last.length;
    },
    text: () => Buffer.concat(kept).toString('utf8'),
  };
}

/** The last `count` lines of a text. */
export function lastLines(text: string, count: number): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}
