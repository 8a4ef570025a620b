// A history on disk, whatever its format and whether it is compressed, by its first bytes: names can lie. Knows files; what
// their text means is `history/recorded.ts`.

import { readFileSync, statSync } from 'node:fs';
import * as zlib from 'node:zlib';
import { HarnessError, messageOf } from './contract/errors.ts';
import { HistoryError } from './history/history.ts';
import { parseRecorded, type Recorded } from './history/recorded.ts';

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** Throws HarnessError('usage') with file, line and rule if it cannot be read or is malformed. */
export function readRecorded(path: string): Recorded {
  const text = textOf(path);
  try {
    return parseRecorded(text);
  } catch (error) {
    throw refusal(path, error);
  }
}

/** A malformed history as the error of its file; any other error as it is. */
export function refusal(path: string, error: unknown): unknown {
  if (!(error instanceof HistoryError)) return error;
  return new HarnessError('usage', `${path}, ${error.message}`, {
    remedy: 'a malformed history is never judged; results/README.md describes the format',
  });
}

/** The text of a file, decompressed. Throws HarnessError. */
function textOf(path: string): string {
  if (statSync(path, { throwIfNoEntry: false }) === undefined)
    throw new HarnessError('usage', `${path} does not exist`);
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new HarnessError('usage', `cannot read ${path}: ${messageOf(error)}`);
  }
  try {
    return decompressed(bytes).toString('utf8');
  } catch (error) {
    if (error instanceof HarnessError) throw error;
    throw new HarnessError('usage', `${path} is damaged: ${messageOf(error)}`);
  }
}

function decompressed(bytes: Buffer): Buffer {
  if (startsWith(bytes, GZIP)) return zlib.gunzipSync(bytes);
  if (!startsWith(bytes, ZSTD)) return bytes;
  // Only Node 22.15 and later have it, whatever the types say.
  if (!('zstdDecompressSync' in zlib))
    throw new HarnessError('environment', `Node ${process.version} cannot decompress zstd`, {
      remedy: 'use Node 22.15 or later, or decompress the file first',
    });
  return zlib.zstdDecompressSync(bytes);
}

function startsWith(bytes: Buffer, beginning: Buffer): boolean {
  return bytes.subarray(0, beginning.length).equals(beginning);
}
