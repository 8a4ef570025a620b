// The history on disk: append-only, flushed at least every 50 ms, so a killed run leaves a judgeable prefix (I1).
// The coordinator appends what clients and nemesis report, in the order it learns of it; `check` reads it back.

import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { encodeEvent, encodeHeader } from './encode-event.ts';
import { openReader } from './json-lines.ts';
import type { History } from './history.ts';
import type { Header, HistoryEvent } from './op.ts';

const FLUSH_EVERY_MILLIS = 50;
const FLUSH_AT_CHARACTERS = 1 << 16;

/** An open journal. Owned by the run that opened it, which closes it. */
export class Journal implements Disposable {
  readonly path: string;
  readonly #file: number;
  readonly #timer: NodeJS.Timeout;
  readonly #listeners: ((event: HistoryEvent) => void)[] = [];
  #pending = '';
  #closed = false;

  /** Creates the file; fails if it exists. */
  constructor(path: string, header: Header) {
    this.path = path;
    this.#file = openSync(path, 'wx');
    this.#pending = `${encodeHeader(header)}\n`;
    this.flush();
    this.#timer = setInterval(() => this.flush(), FLUSH_EVERY_MILLIS);
    this.#timer.unref();
  }

  /** Called for each event, after it was appended, in order. */
  onEvent(listener: (event: HistoryEvent) => void): void {
    this.#listeners.push(listener);
  }

  /** Throws what the disk throws (full, gone); the run ends with it, what was flushed stays. */
  append(event: HistoryEvent): void {
    if (this.#closed) throw new Error(`journal ${this.path} is closed`);
    this.#pending += `${encodeEvent(event)}\n`;
    if (this.#pending.length >= FLUSH_AT_CHARACTERS) this.flush();
    for (const listener of this.#listeners) listener(event);
  }

  /** Hands everything to the operating system. */
  flush(): void {
    if (this.#pending === '') return;
    const bytes = Buffer.from(this.#pending);
    this.#pending = '';
    for (let written = 0; written < bytes.length;) written += writeSync(this.#file, bytes, written);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    try {
      this.flush();
      fsyncSync(this.#file);
    } finally {
      closeSync(this.#file);
    }
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

const READ_BYTES = 1 << 20;

/**
 * Reads a journal back, of any length. Throws `HistoryError` if it is malformed, what the disk throws if it cannot be
 * read.
 */
export function readJournal(path: string): History {
  const reader = openReader();
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.allocUnsafe(READ_BYTES);
    for (let length = readSync(file, bytes); length > 0; length = readSync(file, bytes))
      reader.take(bytes.subarray(0, length));
  } finally {
    closeSync(file);
  }
  return reader.finish();
}
