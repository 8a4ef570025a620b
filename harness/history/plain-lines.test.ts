// The quick reader of lines agrees with the thorough one on every line that it reads, reads what the journal writes, and
// says nothing about the rest.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeEvent } from './encode-event.ts';
import { decodeEvent } from './decode-event.ts';
import { openReader, parseHistory } from './json-lines.ts';
import { HistoryError } from './history.ts';
import { fencingToken, millis, nanos, type HistoryEvent } from './op.ts';
import { plainLines } from './plain-lines.ts';

const RUNS = 20_000;

const plain = plainLines();

function readPlain(line: string): HistoryEvent | undefined {
  const bytes = Buffer.from(`before\n${line}\nafter`);
  return plain(bytes, 7, bytes.length - 6);
}

/** The event, or the rule that the line breaks. */
function readThoroughly(line: string): HistoryEvent | string {
  try {
    return decodeEvent(line, 1);
  } catch (error) {
    if (error instanceof HistoryError) return error.rule;
    throw error;
  }
}

/** Mostly plain: a line has many fields, and one that is not is enough. */
const mostly = <T>(usual: fc.Arbitrary<T>, ...others: readonly fc.Arbitrary<T>[]): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: usual, weight: 30 }, ...others);
const word = mostly(
  fc.constantFrom('c1', 'c1.2', 'k1', 'none', 'timeout', 'busy', '', '{', ',', ':'),
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const whole = mostly(
  fc.nat(),
  fc.constantFrom(0, 1, 999_999_999_999_999, 10 ** 15, Number.MAX_SAFE_INTEGER),
  fc.maxSafeNat(),
);
const id = mostly(whole, fc.maxSafeInteger());
const token = mostly(fc.bigInt({ min: 0n, max: 10n ** 15n }), fc.bigInt({ min: -9n, max: 2n ** 63n })).map(
  (value) => fencingToken(value.toString()),
);
const ttl = mostly(fc.nat(), fc.double({ min: 0, max: 1e9, noNaN: true }), fc.maxSafeNat()).map(millis);

const written: fc.Arbitrary<HistoryEvent> = fc.oneof(
  fc.record(
    {
      type: fc.constant('invoke' as const),
      id,
      time: id.map(nanos),
      process: word,
      op: fc.constantFrom('acquire' as const, 'renew' as const, 'release' as const),
      lock: word,
      try: fc.boolean(),
      shared: fc.boolean(),
      ttlMillis: ttl,
      owner: word,
    },
    { requiredKeys: ['type', 'id', 'time', 'process', 'op', 'lock'] },
  ),
  fc.record(
    {
      type: fc.constant('invoke' as const),
      id,
      time: id.map(nanos),
      process: word,
      op: fc.constantFrom('read' as const, 'write' as const, 'cas' as const),
      lock: word,
      store: word,
      key: word,
      value: word,
      base: word,
      token,
    },
    { requiredKeys: ['type', 'id', 'time', 'process', 'op', 'key', 'value'] },
  ),
  fc.record(
    {
      type: fc.constantFrom('ok' as const, 'fail' as const, 'info' as const),
      id,
      time: id.map(nanos),
      process: word,
      op: fc.constantFrom('acquire' as const, 'release' as const, 'read' as const, 'write' as const),
      error: word,
      token,
      validUntil: whole.map(nanos),
      released: fc.boolean(),
      value: word,
      version: word,
      highest: token,
    },
    { requiredKeys: ['type', 'id', 'time', 'process', 'op'] },
  ),
  fc.record({
    type: fc.constant('down' as const),
    time: id.map(nanos),
    process: word,
    reason: word,
  }),
);

/** What a line may be damaged with: everything that has a meaning in JSON, or none. */
const scrap = fc.oneof(
  fc.constantFrom(
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '-',
    '.',
    '0',
    '7',
    'e',
    ' ',
    '\t',
    '\r',
    't',
    'null',
  ),
  fc.constantFrom(
    '"id":1,',
    '"op":"read",',
    ',"lock":"k"',
    ',"key":7',
    ',"votes":[]',
    ',"value":null',
    '\u00e9',
  ),
  fc.string({ maxLength: 3 }),
);
interface Damage {
  readonly at: number;
  readonly removed: number;
  readonly inserted: string;
}
const damage: fc.Arbitrary<Damage> = fc.record({
  at: fc.nat(),
  removed: fc.nat({ max: 3 }),
  inserted: scrap,
});

function damaged(line: string, { at, removed, inserted }: Damage): string {
  const place = at % (line.length + 1);
  return (line.slice(0, place) + inserted + line.slice(place + removed)).replaceAll('\n', '');
}

/** Lines are read right or not at all; answers how many were read. */
const readRight = (lines: fc.Arbitrary<string>): number => {
  let read = 0;
  const property = fc.property(lines, (line) => {
    const event = readPlain(line);
    if (event === undefined) return;
    read += 1;
    expect(event).toStrictEqual(readThoroughly(line));
  });
  fc.assert(property, { numRuns: RUNS });
  return read;
};

function longOwner(length: number): string {
  const owner = 'x'.repeat(length);
  return `{"type":"invoke","id":1,"time":1,"process":"c1","op":"acquire","lock":"k","owner":"${owner}"}`;
}

describe('a plain line', () => {
  it('is read as JSON.parse would have it, whatever the journal writes', () => {
    expect(readRight(written.map(encodeEvent))).toBeGreaterThan(RUNS / 4);
  });

  it('is read as JSON.parse would have it, or not at all, once it is damaged', () => {
    const lines = fc
      .tuple(written, fc.array(damage, { minLength: 1, maxLength: 2 }))
      .map(([event, damages]) => damages.reduce(damaged, encodeEvent(event)));
    expect(readRight(lines)).toBeGreaterThan(RUNS / 100);
  });

  it.each([
    '{"type":"invoke","id":17,"time":1203400000,"process":"c3","op":"acquire","lock":"k2","ttlMillis":1000}',
    '{"type":"ok","id":17,"time":1204100000,"process":"c3","op":"acquire","lock":"k2","token":"118","validUntil":2190000000}',
    '{"type":"info","id":18,"time":2,"process":"c3","op":"renew","lock":"k2","error":"timeout"}',
    '{"type":"invoke","id":19,"time":2,"process":"c3","op":"write","store":"fenced","key":"k2","value":"9","token":"118","base":"8"}',
    '{"type":"fail","id":19,"time":3,"process":"c3","op":"write","store":"fenced","key":"k2","error":"stale-token","highest":"119"}',
    '{"time":0,"op":"release","released":false,"process":"c1","id":0,"type":"ok"}',
    '{"type":"invoke","id":1,"time":1,"process":"c1","op":"acquire","lock":"k","try":true,"shared":false,"owner":"c1-1"}',
    longOwner(1024),
  ])('is read quickly: %s', (line) => {
    expect(readPlain(line)).toStrictEqual(decodeEvent(line, 1));
  });

  it.each([
    ['a name that needs escapes', '{"type":"ok","id":1,"time":1,"process":"c\\n","op":"renew"}'],
    ['a name that is not ASCII', '{"type":"ok","id":1,"time":1,"process":"é","op":"renew"}'],
    ['a text that is very long', longOwner(1025)],
    ['blanks', '{"type":"ok", "id":1,"time":1,"process":"c","op":"renew"}'],
    ['a field twice', '{"type":"ok","id":1,"id":2,"time":1,"process":"c","op":"renew"}'],
    [
      'a field that it does not know',
      '{"type":"ok","id":1,"time":1,"process":"c","op":"renew","mood":"bad"}',
    ],
    ['a number with a leading zero', '{"type":"ok","id":01,"time":1,"process":"c","op":"renew"}'],
    [
      'a number that may not be exact',
      '{"type":"ok","id":9007199254740993,"time":1,"process":"c","op":"renew"}',
    ],
    ['a fraction', '{"type":"ok","id":1,"time":1.5,"process":"c","op":"renew"}'],
    ['a missing field', '{"type":"ok","id":1,"time":1,"process":"c"}'],
    ['a lock operation without its lock', '{"type":"invoke","id":1,"time":1,"process":"c","op":"renew"}'],
    ['a write without its value', '{"type":"invoke","id":1,"time":1,"process":"c","op":"write","key":"k"}'],
    [
      'an operation named like a property of objects',
      '{"type":"ok","id":1,"time":1,"process":"c","op":"toString"}',
    ],
    ['more after its end', '{"type":"ok","id":1,"time":1,"process":"c","op":"renew"}}'],
    ['no end', '{"type":"ok","id":1,"time":1,"process":"c","op":"renew"'],
    ['no beginning', '"type":"ok","id":1,"time":1,"process":"c","op":"renew"}'],
    ['nothing in it', ''],
    ['another event', '{"type":"down","time":1,"process":"c"}'],
  ])('is not one with %s', (_, line) => {
    expect(readPlain(line)).toBeUndefined();
  });

  it('keeps reading names once there are too many to remember', () => {
    const reader = plainLines();
    for (let number = 0; number < 70_000; number++) {
      const bytes = Buffer.from(`{"type":"ok","id":1,"time":1,"process":"client-${number}","op":"renew"}`);
      expect(reader(bytes, 0, bytes.length)?.process).toBe(`client-${number}`);
    }
  });
});

describe('a file in pieces', () => {
  const text = [
    '{"format":"lockpick-history","version":1,"meta":{"backend":"gr\u00fc\u00df \ud83d\udd12"}}',
    '{"type":"invoke","id":1,"time":1,"process":"c1","op":"acquire","lock":"k\u00e4"}',
    '',
    '{"type":"ok","id":1,"time":2,"process":"c1","op":"acquire"}\r',
    '{"type":"down","time":3,"process":"c1","reason":"\ud83d\udd12"}',
    '{"type":"down","time":4,"proc',
  ].join('\n');

  it.each([1, 2, 3, 7, 64, 1000])('of %i bytes is read as in one', (size) => {
    const bytes = Buffer.from(text);
    const reader = openReader();
    for (let at = 0; at < bytes.length; at += size) {
      // The piece is used again, as a reader of files does.
      const piece = Buffer.from(bytes.subarray(at, at + size));
      reader.take(piece);
      piece.fill(0);
    }
    expect(reader.finish()).toEqual(parseHistory(text));
    expect(parseHistory(text).downs).toHaveLength(1);
  });

  it('counts its lines across the pieces', () => {
    const reader = openReader();
    reader.take(Buffer.from('{"format":"lockpick-history","version":1}\n{"type":"do'));
    expect(() => reader.take(Buffer.from('wn","time":1}\n'))).toThrow('line 2: field "process" is missing');
  });
});
