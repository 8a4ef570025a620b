// Frames, lines and tails, cut at every possible place.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frameReader, lastLines, lineReader, tailOf } from './output.ts';

function frame(stream: number, payload: Buffer): Buffer {
  const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(payload.length, 4);
  return Buffer.concat([header, payload]);
}

/** Cuts `bytes` at the given places, in any order. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted(
    (a, b) => a - b,
  );
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
}

describe('frameReader', () => {
  it('gives each stream its own bytes, wherever the chunks are cut', () => {
    const frames = fc.array(fc.record({ stream: fc.constantFrom(1, 2), text: fc.string() }));
    fc.assert(
      fc.property(frames, fc.array(fc.nat()), (sent, places) => {
        const got = { 1: '', 2: '' };
        const read = frameReader({
          stdout: (bytes) => (got[1] += bytes.toString('latin1')),
          stderr: (bytes) => (got[2] += bytes.toString('latin1')),
        });
        const raw = Buffer.concat(sent.map(({ stream, text }) => frame(stream, Buffer.from(text, 'latin1'))));
        for (const chunk of cut(raw, places)) read(chunk);
        const all = (wanted: number): string =>
          Buffer.from(
            sent
              .filter(({ stream }) => stream === wanted)
              .map(({ text }) => text)
              .join(''),
            'latin1',
          ).toString('latin1');
        expect(got).toEqual({ 1: all(1), 2: all(2) });
      }),
    );
  });

  it('takes a read full of tiny frames in linear time', () => {
    const raw = Buffer.concat(Array.from({ length: 200_000 }, () => frame(1, Buffer.from('x\n'))));
    let count = 0;
    const read = frameReader({ stdout: () => (count += 1), stderr: () => {} });
    read(raw);
    expect(count).toBe(200_000);
  });
});

describe('lineReader', () => {
  it('gives every line once and whole, wherever the chunks are cut, also inside a character', () => {
    const line = fc.string({ unit: 'grapheme' }).filter((text) => !/[\n\uD800-\uDFFF]/u.test(text));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), (lines, places) => {
        const got: string[] = [];
        const read = lineReader((text) => got.push(text));
        for (const chunk of cut(Buffer.from(lines.map((text) => `${text}\n`).join('')), places)) read(chunk);
        expect(got).toEqual(lines);
      }),
    );
  });

  it('keeps a torn last line to itself', () => {
    const got: string[] = [];
    lineReader((text) => got.push(text))(Buffer.from('whole\ntorn'));
    expect(got).toEqual(['whole']);
  });
});

describe('tailOf', () => {
  it('keeps the end, and not much more', () => {
    const tail = tailOf(10);
    for (let index = 0; index < 1_000; index++) tail.push(Buffer.from(`${index} `));
    expect(tail.text().endsWith('997 998 999 ')).toBe(true);
    expect(tail.text().length).toBeLessThanOrEqual(20);
  });
});

describe('lastLines', () => {
  it('does not count the line feed at the end', () => {
    expect(lastLines('one\ntwo\nthree\n', 2)).toBe('two\nthree');
  });
});
