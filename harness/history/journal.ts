// The history on disk: append-only, flushed at least every 50 ms, so a killed run leaves a judgeable prefix (I1).
// The coordinator appends what clients and nemesis report, in the order it learns of it; `check` reads it back.

import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { encodeEvent, encodeHeader } from './encode-event.ts';
import { openReader } from './json-lines.ts';
import type { History } from './history.ts';
import type { Header, HistoryEvent } from './op.ts';

const FLUSH_EVERY_MILLIS = 50;
const FLUSH_AT_CHARACTERS = 1 << 16;

/** The disk did not take it: full, gone. What was flushed before stays, and can be judged. */
export class JournalError extends Error {
  constructor(path: string, cause: unknown) {
    super(`cannot write ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'JournalError';
  }
}

/** An open journal. Owned by the run that opened it, which closes it. */
export class Journal implements Disposable {
  readonly path: string;
  readonly #file: number;
  readonly #timer: NodeJS.Timeout;
  readonly #listeners: ((event: HistoryEvent) => void)[] = [];
  readonly #failed = new AbortController();
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

  /** Aborted with a JournalError once something could not be written; from then on nothing is. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  append(event: HistoryEvent): void {
    if (this.#closed) throw new Error(`journal ${this.path} is closed`);
    if (this.failed.aborted) return;
    this.#pending += `${encodeEvent(event)}\n`;
    if (this.#pending.length >= FLUSH_AT_CHARACTERS) this.flush();
    for (const listener of this.#listeners) listener(event);
  }

  /** Hands everything to the operating system. */
  flush(): void {
    if (this.#pending === '' || this.failed.aborted) return;
    const bytes = Buffer.from(this.#pending);
    this.#pending = '';
    try {
      for (let written = 0; written < bytes.length;) written += writeSync(this.#file, bytes, written);
    } catch (error) {
      this.#failed.abort(new JournalError(this.path, error));
    }
  }

  /** Throws a JournalError if the end could not be written; what could not be written before is told by `failed`. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    const told = this.failed.aborted;
    this.flush();
    try {
      fsyncSync(this.#file);
    } catch (error) {
      this.#failed.abort(new JournalError(this.path, error));
    }
    closeSync(this.#file);
    if (!told) this.failed.throwIfAborted();
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
