// A history on disk, whatever its format and whether it is compressed, by its first bytes: names can lie. Knows files; what
// their text means is `history/recorded.ts`.

import { isUtf8 } from 'node:buffer';
import { createReadStream, statSync, type Stats } from 'node:fs';
import { pipeline, Readable, type Duplex } from 'node:stream';
import * as zlib from 'node:zlib';
import { HarnessError, messageOf } from '../contract/errors.ts';
import { HistoryError, type History } from '../history/history.ts';
import { openReader } from '../history/json-lines.ts';
import { readJournal } from '../history/journal.ts';
import { HISTORY_FORMAT } from '../history/op.ts';
import { FORMAT_CHARACTERS, formatOf, parseRecorded, type Recorded } from '../history/recorded.ts';

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** A file that is not ours is read as one text, which can be no longer. */
const TEXT_BYTES_MAX = 2 ** 29 - 24;
const READ_BYTES = 1 << 20;

/**
 * Reads a file or pipe. One of ours is read by pieces, compressed or not, and may be of any length. Throws
 * HarnessError('usage') with file, line and rule if it cannot be read or is malformed.
 */
export async function readRecorded(path: string): Promise<Recorded> {
  refuseMissing(path);
  try {
    const source = createReadStream(path, { highWaterMark: READ_BYTES });
    const stored = await begun(source);
    const plain = await begun(decompressed(path, stored));
    if (formatOf(plain.beginning.toString('utf8')) !== HISTORY_FORMAT)
      return parseRecorded(await textOf(path, plain.all));
    const reader = openReader();
    for await (const bytes of plain.all) reader.take(bytes);
    return { format: HISTORY_FORMAT, history: reader.finish() };
  } catch (error) {
    throw readingError(path, error);
  }
}

/** Reads a history of ours that is not compressed, as runs are stored. Throws as `readRecorded` does. */
export function readStoredHistory(path: string): History {
  refuseMissing(path);
  try {
    return readJournal(path);
  } catch (error) {
    throw readingError(path, error);
  }
}

function refuseMissing(path: string): void {
  let stats: Stats | undefined;
  try {
    stats = statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw readingError(path, error);
  }
  if (stats === undefined) throw new HarnessError('usage', `${path} does not exist`);
}

/** Of what is not there, or cannot be looked at: no; whoever reads it then says so. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function readingError(path: string, error: unknown): unknown {
  if (error instanceof HistoryError) return refusal(path, error);
  if (error instanceof HarnessError) return error;
  return new HarnessError('usage', `cannot read ${path}: ${messageOf(error)}`);
}

/** Bytes of which the beginning has been looked at. */
interface Begun {
  /** `FORMAT_CHARACTERS`, or all there are. */
  readonly beginning: Buffer;
  /** The beginning, and the rest. */
  readonly all: AsyncGenerator<Buffer>;
}

async function begun(source: AsyncIterable<Buffer>): Promise<Begun> {
  const pieces = source[Symbol.asyncIterator]();
  let beginning = Buffer.alloc(0);
  while (beginning.length < FORMAT_CHARACTERS) {
    const piece = await pieces.next();
    if (piece.done === true) break;
    beginning = Buffer.concat([beginning, piece.value]);
  }
  return { beginning: beginning.subarray(0, FORMAT_CHARACTERS), all: whole(beginning, pieces) };
}

async function* whole(beginning: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield beginning;
  for (let piece = await rest.next(); piece.done !== true; piece = await rest.next()) yield piece.value;
}

async function textOf(path: string, pieces: AsyncIterable<Buffer>): Promise<string> {
  const kept: Buffer[] = [];
  let length = 0;
  for await (const piece of pieces) {
    length += piece.length;
    if (length > TEXT_BYTES_MAX)
      throw new HarnessError('usage', `${path} holds more than ${TEXT_BYTES_MAX} bytes`, {
        remedy: 'only a lockpick history may be longer; judge a part of it',
      });
    kept.push(piece);
  }
  const bytes = Buffer.concat(kept);
  // Read all the same, names that differ would become one.
  if (!isUtf8(bytes)) throw new HarnessError('usage', `${path} is not UTF-8`);
  return bytes.toString('utf8');
}

/** A malformed history as the error of its file; any other error as it is. */
export function refusal(path: string, error: unknown): unknown {
  if (!(error instanceof HistoryError)) return error;
  return new HarnessError('usage', `${path}, ${error.message}`, {
    remedy: 'a malformed history is never judged; results/README.md describes the format',
  });
}

async function* decompressed(path: string, { beginning, all }: Begun): AsyncGenerator<Buffer> {
  const decompress = decompressorFor(beginning);
  if (decompress === undefined) {
    yield* all;
    return;
  }
  // What goes wrong on the way is thrown where its end is read.
  pipeline(Readable.from(all), decompress, () => {});
  try {
    yield* decompress;
  } catch (error) {
    throw new HarnessError(
      'usage',
      `${path} begins as a compressed file and cannot be decompressed: ${messageOf(error)}`,
      { remedy: 'it may be cut off or damaged' },
    );
  }
}

/** undefined: it is not compressed. */
function decompressorFor(beginning: Buffer): (Duplex & AsyncIterable<Buffer>) | undefined {
  if (startsWith(beginning, GZIP)) return zlib.createGunzip({ chunkSize: READ_BYTES });
  if (!startsWith(beginning, ZSTD)) return undefined;
  // Only Node 22.15 and later have it, whatever the types say.
  if (!('createZstdDecompress' in zlib))
    throw new HarnessError('environment', `Node ${process.version} cannot decompress zstd`, {
      remedy: 'use Node 22.15 or later, or decompress the file first',
    });
  return zlib.createZstdDecompress({ chunkSize: READ_BYTES });
}

function startsWith(bytes: Buffer, beginning: Buffer): boolean {
  return bytes.subarray(0, beginning.length).equals(beginning);
}
