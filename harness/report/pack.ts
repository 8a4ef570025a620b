// The timeline's columns as they stand in the page: a head in JSON that says what follows, then the numbers as bytes,
// all deflated and in base64. A number is the difference to the last one of its group, zigzag-coded as a varint (as in
// Protocol Buffers), so that what grows or repeats costs next to nothing. `page/unpack.js` is the other end. Pure.

import { deflateRawSync } from 'node:zlib';

type Column = ArrayLike<number>;

/** How a column is written: each number against the last one whose row says the same in all columns `by`. */
export interface ColumnForm {
  readonly table: string;
  readonly column: string;
  readonly by: readonly string[];
  /** 0 means that there is nothing, and is no last one of its group. */
  readonly sparse: boolean;
}

/** What the head says of each column, in the order of the bytes. */
interface WrittenForm extends ColumnForm {
  readonly rows: number;
}

/** Higher levels save 4 % and take ten times as long on columns this regular. */
const DEFLATE_LEVEL = 4;

/** `head` is any JSON; `forms` name a column after those that it is grouped by. O(numbers). */
export function packed(
  head: object,
  tables: Readonly<Record<string, Readonly<Record<string, Column>>>>,
  forms: readonly ColumnForm[],
): string {
  const written: WrittenForm[] = [];
  const bytes = createByteSink();
  for (const form of forms) {
    const table = tables[form.table] ?? {};
    const column = table[form.column] ?? [];
    written.push({ ...form, rows: column.length });
    writeColumn(bytes, column, {
      sparse: form.sparse,
      by: form.by.map((other) => table[other] ?? []),
    });
  }
  const text = Buffer.from(JSON.stringify({ ...head, forms: written }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return deflateRawSync(Buffer.concat([length, text, bytes.taken()]), { level: DEFLATE_LEVEL }).toString(
    'base64',
  );
}

/** No column that others are grouped by has as many different numbers. */
const GROUP_SIZE = 2 ** 16;

function writeColumn(
  bytes: ByteSink,
  column: Column,
  { sparse, by }: { readonly sparse: boolean; readonly by: readonly Column[] },
): void {
  const last = new Map<number, number>();
  for (let row = 0; row < column.length; row++) {
    const value = column[row] ?? 0;
    if (sparse && value === 0) {
      bytes.put(0);
      continue;
    }
    const group = by.reduce((key, other) => key * GROUP_SIZE + (other[row] ?? 0), 0);
    const difference = value - (last.get(group) ?? 0);
    last.set(group, value);
    const zigzag = difference < 0 ? -2 * difference - 1 : 2 * difference;
    bytes.put(sparse ? zigzag + 1 : zigzag);
  }
}

interface ByteSink {
  /** A whole number from 0 on, as a varint; may be above 2³². */
  put(value: number): void;
  taken(): Buffer;
}

function createByteSink(): ByteSink {
  let buffer = Buffer.alloc(1 << 16);
  let length = 0;
  return {
    put(value) {
      if (length + 10 > buffer.length) buffer = Buffer.concat([buffer, Buffer.alloc(buffer.length)]);
      let rest = value;
      while (rest >= 128) {
        buffer[length++] = (rest % 128) + 128;
        rest = Math.floor(rest / 128);
      }
      buffer[length++] = rest;
    },
    taken: () => buffer.subarray(0, length),
  };
}
