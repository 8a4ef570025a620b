// A history on disk, whatever its format and whether it is compressed, by its first bytes: names can lie. Knows files; what
// their text means is `history/recorded.ts`.

import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import * as zlib from 'node:zlib';
import { HarnessError, messageOf } from '../contract/errors.ts';
import { HistoryError } from '../history/history.ts';
import { openReader } from '../history/json-lines.ts';
import { readJournal } from '../history/journal.ts';
import { HISTORY_FORMAT } from '../history/op.ts';
import { FORMAT_CHARACTERS, formatOf, parseRecorded, type Recorded } from '../history/recorded.ts';

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** A compressed file holds no more than this: a few megabytes can hold more than there is memory. */
const DECOMPRESSED_BYTES_MAX = 2 ** 29;

/** Throws HarnessError('usage') with file, line and rule if it cannot be read or is malformed. */
export function readRecorded(path: string): Recorded {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new HarnessError('usage', `${path} does not exist`);
  try {
    // Ours may be longer than a text can be, so it is read by pieces. A pipe can be read only once.
    if (found.isFile()) {
      const beginning = beginningOf(path);
      if (!isCompressed(beginning) && isOurs(beginning))
        return { format: HISTORY_FORMAT, history: readJournal(path) };
    }
    const bytes = decompressed(path, readFileSync(path));
    if (!isOurs(bytes.subarray(0, FORMAT_CHARACTERS))) return parseRecorded(bytes.toString('utf8'));
    const reader = openReader();
    reader.take(bytes);
    return { format: HISTORY_FORMAT, history: reader.finish() };
  } catch (error) {
    if (error instanceof HistoryError) throw refusal(path, error);
    if (error instanceof HarnessError) throw error;
    throw new HarnessError('usage', `cannot read ${path}: ${messageOf(error)}`);
  }
}

function isOurs(beginning: Buffer): boolean {
  return formatOf(beginning.toString('utf8')) === HISTORY_FORMAT;
}

function beginningOf(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(FORMAT_CHARACTERS);
    return bytes.subarray(0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

/** A malformed history as the error of its file; any other error as it is. */
export function refusal(path: string, error: unknown): unknown {
  if (!(error instanceof HistoryError)) return error;
  return new HarnessError('usage', `${path}, ${error.message}`, {
    remedy: 'a malformed history is never judged; results/README.md describes the format',
  });
}

function isCompressed(bytes: Buffer): boolean {
  return startsWith(bytes, GZIP) || startsWith(bytes, ZSTD);
}

function decompressed(path: string, bytes: Buffer): Buffer {
  if (!isCompressed(bytes)) return bytes;
  const limit = { maxOutputLength: DECOMPRESSED_BYTES_MAX };
  try {
    return startsWith(bytes, GZIP) ? zlib.gunzipSync(bytes, limit) : decompressedZstd(bytes, limit);
  } catch (error) {
    if (error instanceof HarnessError) throw error;
    const tooLong = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw new HarnessError(
      'usage',
      tooLong
        ? `${path} holds more than ${DECOMPRESSED_BYTES_MAX} bytes`
        : `${path} begins as a compressed file and cannot be decompressed: ${messageOf(error)}`,
      { remedy: tooLong ? 'decompress it first, and judge that file' : 'it may be cut off or damaged' },
    );
  }
}

function decompressedZstd(bytes: Buffer, limit: { readonly maxOutputLength: number }): Buffer {
  // Only Node 22.15 and later have it, whatever the types say.
  if (!('zstdDecompressSync' in zlib))
    throw new HarnessError('environment', `Node ${process.version} cannot decompress zstd`, {
      remedy: 'use Node 22.15 or later, or decompress the file first',
    });
  return zlib.zstdDecompressSync(bytes, limit);
}

function startsWith(bytes: Buffer, beginning: Buffer): boolean {
  return bytes.subarray(0, beginning.length).equals(beginning);
}
