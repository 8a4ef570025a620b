// The text form of a history, `lockpick-history` version 1: one JSON value a line, header first (2.1 of the design). Takes
// a file of any length piece by piece and hands on line by line: to `plain-lines.ts`, which is quick, or to
// `decode-event.ts`. `history.ts` pairs what comes out. Pure.

import { decodeEvent, decodeHeader } from './decode-event.ts';
import { HistoryError, openAssembly, type Assembly, type History } from './history.ts';
import { plainLines } from './plain-lines.ts';

const EMPTY = 'the file is empty; a history starts with its header';
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const LENIENT = new TextDecoder('utf-8', { ignoreBOM: true });
const NOT_UTF8 = 'the line is not UTF-8';
const LINE_FEED = 0x0a;
/** A longer one could not be a text. */
const LINE_BYTES_MAX = 2 ** 28;

/** Reads a whole file. A torn last line is dropped. Throws `HistoryError` with line and rule. O(size). */
export function parseHistory(text: string): History {
  const reader = openReader();
  reader.take(new TextEncoder().encode(text));
  return reader.finish();
}

/** A file that is being read, so that one of any length need not be in memory. */
export interface HistoryReader {
  /** Takes the next bytes of the file, and keeps none of them. Throws `HistoryError` with line and rule. */
  take(bytes: Uint8Array): void;
  /** The file ends here. A torn last line is dropped. Throws `HistoryError` with line and rule. */
  finish(): History;
}

export function openReader(): HistoryReader {
  const plain = plainLines();
  let assembly: Assembly | undefined;
  let number = 0;
  /** The beginning of the line that is not complete yet. */
  let begun: Uint8Array[] = [];
  let begunLength = 0;

  const line = (bytes: Uint8Array, start: number, end: number): void => {
    number += 1;
    const event = assembly === undefined ? undefined : plain(bytes, start, end);
    if (event !== undefined) assembly?.add(event, number);
    else text(decoded(bytes.subarray(start, end)));
  };
  const decoded = (bytes: Uint8Array): string => {
    try {
      return UTF8.decode(bytes);
    } catch {
      // Read all the same, names that differ would become one.
      throw new HistoryError(number, NOT_UTF8);
    }
  };
  const text = (words: string): void => {
    if (assembly === undefined) {
      if (isBlank(words)) throw new HistoryError(1, EMPTY);
      // Some editors put a byte order mark before the text.
      assembly = openAssembly(decodeHeader(words.replace(/^\uFEFF/, '')));
    } else if (!isBlank(words)) assembly.add(decodeEvent(words, number), number);
  };
  const keep = (bytes: Uint8Array): void => {
    begunLength += bytes.length;
    if (begunLength > LINE_BYTES_MAX)
      throw new HistoryError(number + 1, `the line is longer than ${LINE_BYTES_MAX} bytes`);
    begun.push(new Uint8Array(bytes));
  };
  const takeBegun = (): Uint8Array => {
    const whole = new Uint8Array(begunLength);
    let length = 0;
    for (const piece of begun) {
      whole.set(piece, length);
      length += piece.length;
    }
    begun = [];
    begunLength = 0;
    return whole;
  };

  return {
    take(bytes) {
      let start = 0;
      for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
        if (begunLength === 0) line(bytes, start, end);
        else {
          keep(bytes.subarray(start, end));
          const whole = takeBegun();
          line(whole, 0, whole.length);
        }
        start = end + 1;
      }
      if (start < bytes.length) keep(bytes.subarray(start));
    },
    finish() {
      const last = takeBegun();
      // A torn header is left to its decoder, which says so: without one there is nothing to judge.
      if (assembly === undefined || !isTorn(LENIENT.decode(last))) line(last, 0, last.length);
      if (assembly === undefined) throw new HistoryError(1, EMPTY);
      return assembly.finish();
    },
  };
}

function isBlank(line: string): boolean {
  return line === '' || /^\s*$/.test(line);
}

/** The writer was killed in the middle of this line: it has no line break and is no JSON value. */
function isTorn(line: string): boolean {
  try {
    JSON.parse(line);
    return false;
  } catch {
    return true;
  }
}
